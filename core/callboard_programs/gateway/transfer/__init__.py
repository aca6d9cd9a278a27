"""Takes objects from one instance into another: exports them, imports them and compares the
copies."""
