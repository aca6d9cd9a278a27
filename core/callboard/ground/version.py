"""The version of callboard."""

__version__ = "0.1.0"
