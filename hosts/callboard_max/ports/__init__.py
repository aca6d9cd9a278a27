"""What 3ds Max can do: one module a port."""
