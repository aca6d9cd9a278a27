"""From nothing to an agent in an application with one command, and back to what was there."""
