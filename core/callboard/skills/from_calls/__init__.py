"""A good run, as it was recorded, becomes a skill."""
