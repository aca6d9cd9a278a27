"""The transports that carry MCP (HTTP and REST), and the files that announce instances."""
