"""Maps, an agent's work on a farm: a process of the command line for each, and its report."""
