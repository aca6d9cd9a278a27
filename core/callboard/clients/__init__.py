"""Who may connect, and as whom: tokens made by name, kept as hashes, valid until revoked."""
