"""What several ports of Houdini stand on."""
