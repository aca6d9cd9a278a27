"""One address for many instances, which stays the same when they restart."""
