"""The files in which MCP clients keep their servers: where they are, and ours in them or out again,
with everything else as it was."""
