"""Checks a skill or a bundle before anyone runs it."""
