"""The server's loop as a guest of the application's, and the queue of work for its main thread."""
