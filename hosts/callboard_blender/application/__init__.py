"""The parts of the adapter that handle Blender's names, undo and events."""
