"""Bytes in and out: HTTP, and the instances of this machine."""
