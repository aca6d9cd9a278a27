"""Bytes in and out: HTTP, REST, stdio, and the client's side."""
