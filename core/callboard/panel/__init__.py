"""The view that a user interface has of a server, and the actions that it can take on the server. A
panel imports only this package."""
