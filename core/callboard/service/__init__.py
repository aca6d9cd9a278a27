"""The answers to MCP's methods, for any peer of any era."""
