"""callboard: an MCP server that lives inside a 3D application."""

__version__ = "0.1.0"
