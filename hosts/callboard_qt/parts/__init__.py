"""What several ports of applications with Qt stand on."""
