"""The files that a host gives a bundle, and the bundle's side of requesting them."""
