"""A host without windows, started by the command `serve`."""
