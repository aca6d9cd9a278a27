"""Calls that outlive their request."""
