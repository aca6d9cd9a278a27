"""Blender itself: names, undo, and what it tells of itself."""
