"""The main thread, undo, names and messages of an application with Qt."""
