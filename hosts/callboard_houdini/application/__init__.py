"""The parts of the adapter that handle Houdini's names, undo and events."""
