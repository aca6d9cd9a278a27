"""Code shared by the adapters for all applications."""
