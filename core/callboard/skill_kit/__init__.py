"""Code shared by skills: reading back, framing, importing files."""
