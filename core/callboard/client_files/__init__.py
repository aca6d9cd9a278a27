"""The files in which MCP clients list their servers: their places, and adding or removing our entry
without changing anything else."""
