"""What Maya can do: one module a port."""
