"""Installs callboard into the applications on this machine, and removes it again."""
