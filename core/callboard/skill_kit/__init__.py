"""Code that skills share for reading back, framing and importing files."""
