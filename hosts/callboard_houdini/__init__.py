"""Houdini as a host: inside Houdini, and under ``hython``."""
