"""What several ports of 3ds Max stand on."""
