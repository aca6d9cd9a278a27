"""MCP without input or output: messages, revisions, both eras, and the peer that both eras
share."""
