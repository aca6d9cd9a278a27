"""Many instances behind one address that outlives them."""
