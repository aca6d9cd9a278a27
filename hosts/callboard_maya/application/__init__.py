"""Maya itself: names, undo, and its messages."""
