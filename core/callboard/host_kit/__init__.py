"""What adapters share, whichever application they are for."""
