"""What 3ds Max shows of callboard."""
