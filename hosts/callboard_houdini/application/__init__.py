"""Houdini's own names, undo and events."""
