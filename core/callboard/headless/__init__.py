"""A host without windows, by the command `serve`."""
