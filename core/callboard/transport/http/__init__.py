"""Streamable HTTP: the listener, who may talk to it, and MCP's endpoint."""
