"""What Houdini can do: one module a port."""
