"""Sets callboard up in the applications and clients of this machine with one command, and removes
it again."""
