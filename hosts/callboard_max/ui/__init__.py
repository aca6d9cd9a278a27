"""callboard's user interface in 3ds Max."""
