"""Skill folders as values: found, read, checked, searched, watched. None of a skill's code is
imported before a call needs it."""
