"""The files that a host provides to a bundle, and the bundle's side of requesting them."""
