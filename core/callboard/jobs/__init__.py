"""Calls that outlive the request that started them."""
