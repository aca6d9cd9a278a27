"""What the compliance suite checks of a host."""
