"""Houdini's ports, one in each module."""
