"""Blender's own names, undo and events."""
