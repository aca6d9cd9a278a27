"""``maya.api``."""
