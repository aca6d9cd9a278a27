"""Houdini itself: names, undo, and its events."""
