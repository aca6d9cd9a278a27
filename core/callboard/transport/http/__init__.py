"""Streamable HTTP: the listener, its access rules, and MCP's endpoint."""
