"""What such an application shows."""
