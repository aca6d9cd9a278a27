"""Passes an MCP client's messages on to a host, for the stdio bridge and the gateway."""
