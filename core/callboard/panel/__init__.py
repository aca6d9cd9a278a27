"""A user interface's view of a server, and its actions. A panel imports only this."""
