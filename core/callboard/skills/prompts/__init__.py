"""Prompts of skills: their files, templates, and the registry that serves them."""
