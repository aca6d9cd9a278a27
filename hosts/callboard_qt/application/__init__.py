"""The code for the main thread, undo, names and messages of an application with Qt."""
