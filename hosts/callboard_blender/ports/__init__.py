"""Blender's ports, one in each module."""
