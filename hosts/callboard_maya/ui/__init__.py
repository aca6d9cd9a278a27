"""callboard's user interface in Maya."""
