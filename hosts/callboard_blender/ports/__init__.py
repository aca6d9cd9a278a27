"""What Blender can do: one module a port."""
