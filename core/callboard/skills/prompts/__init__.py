"""Prompts of skills: their files, templates, and the register that serves them."""
