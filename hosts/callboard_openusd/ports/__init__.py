"""What OpenUSD can do: one module a port."""
