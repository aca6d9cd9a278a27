"""The files in which MCP clients list their servers: finding them, and adding or removing our entry
without changing anything else."""
