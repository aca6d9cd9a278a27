"""The parts of the adapter that handle 3ds Max's names, undo and events."""
