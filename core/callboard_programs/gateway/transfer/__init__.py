"""Transfers objects from one instance to another: exports them, imports them, and compares the
copies with the originals."""
