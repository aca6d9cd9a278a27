"""The parts of the adapter that handle OpenUSD's names, undo and notices."""
