"""What a user interface sees of a server and may do to it. A panel imports only this."""
