"""Makes a skill from a recorded run that succeeded."""
