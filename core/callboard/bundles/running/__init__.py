"""Starts, watches, restarts and calls the server processes of bundles."""
