"""The common parts of the ports of Qt applications."""
