"""The server's loop as a guest in the application's loop, and the queue for its main thread."""
