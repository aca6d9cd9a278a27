"""Streamable HTTP, with the listener, its access rules, and MCP's endpoint."""
