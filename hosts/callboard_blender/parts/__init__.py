"""What several ports of Blender stand on."""
