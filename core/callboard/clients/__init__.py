"""The clients that may connect. Each has a token, which is kept as a hash and valid until it is
revoked."""
