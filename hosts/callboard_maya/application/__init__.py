"""Maya's own names, undo and messages."""
