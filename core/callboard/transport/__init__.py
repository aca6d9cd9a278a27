"""Bytes in and out: HTTP, REST, stdio, the client's side, and the relay between a
client and hosts."""
