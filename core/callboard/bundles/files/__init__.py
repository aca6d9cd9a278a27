"""Files that a host hands to a bundle, and a bundle's side of asking for them."""
