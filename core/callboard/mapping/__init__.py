"""Maps, each of which runs one tool on many inputs on a farm. Each map has a report, and a process
that runs the ``callboard`` command."""
