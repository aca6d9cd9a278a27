"""The widgets that a Qt application shows."""
