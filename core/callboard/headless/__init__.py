"""A headless host, started by the command `serve`."""
