"""OpenUSD's ports, one in each module."""
