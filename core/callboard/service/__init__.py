"""What MCP's methods answer, for any peer of any era."""
