"""Maps: an agent's work on a farm. Each map has a report, and a process that runs callboard's
command."""
