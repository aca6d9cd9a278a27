"""The parts of the adapter that handle Maya's names, undo and messages."""
