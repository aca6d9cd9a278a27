"""3ds Max's ports, one in each module."""
