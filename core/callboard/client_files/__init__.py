"""Finds the files in which MCP clients list their servers, and adds or removes our entry there
without changing anything else."""
