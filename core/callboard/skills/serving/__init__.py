"""Serves loaded skills as tools, and lets an agent find the others."""
