"""MCP without input or output: messages, revisions, the eras with and without sessions, and the
peer that both eras share."""
