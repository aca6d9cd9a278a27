"""3ds Max itself: names, undo, and what it tells of itself."""
