"""Sets callboard up in the applications and clients on this machine with one command, and removes
it again."""
