"""What an agent has done on a farm: a process of the command line for each map, and its report."""
