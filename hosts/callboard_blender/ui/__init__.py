"""callboard's user interface in Blender."""
