"""Blender as a host: inside Blender, under ``blender -b``, and as the ``bpy`` module."""
