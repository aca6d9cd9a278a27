"""A user interface's view of a server, and its actions on it. A panel imports only this package."""
