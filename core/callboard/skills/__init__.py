"""Skill folders as values: found, read, checked, searched, watched. Imports none of their code
before a call asks for it."""
