"""What the ports of applications with Qt have in common."""
