"""One address for many instances. The address stays the same when the instances restart."""
