"""Maps, an agent's work on a farm: each has a process of the command line, and a report."""
