"""OpenUSD itself: names, undo, and its notices."""
