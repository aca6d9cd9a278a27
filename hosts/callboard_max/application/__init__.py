"""3ds Max itself: names, undo, and its events."""
