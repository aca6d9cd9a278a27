"""Making the index of a manual that a user downloaded. Its pages may be hostile."""
