"""Parts shared by the ports of applications with Qt."""
