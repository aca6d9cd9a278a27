"""Putting callboard into the applications on this machine, and taking it out again."""
