"""Prompts of skills, with their files and templates, and the registry that serves them."""
