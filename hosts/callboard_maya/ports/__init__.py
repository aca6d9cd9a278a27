"""Maya's ports, one in each module."""
