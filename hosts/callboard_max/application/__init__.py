"""3ds Max's own names, undo and events."""
