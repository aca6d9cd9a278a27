"""The clients that may connect: tokens made by name, kept as hashes, valid until revoked."""
