"""The standalone host. Its scene is an OpenUSD stage, and it needs no application."""
