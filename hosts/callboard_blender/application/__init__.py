"""Blender itself: names, undo, and its events."""
