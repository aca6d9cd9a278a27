"""Puts callboard into the applications on this machine, and takes it out again."""
