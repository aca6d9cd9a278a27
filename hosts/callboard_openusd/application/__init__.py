"""OpenUSD's own names, undo and notices."""
