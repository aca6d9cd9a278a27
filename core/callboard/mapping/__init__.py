"""Maps: an agent's work on a farm. Each map has a process of callboard's command, and a report."""
