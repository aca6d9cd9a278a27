"""Blender as a host. It runs inside Blender, under ``blender -b``, and as the ``bpy`` module."""
