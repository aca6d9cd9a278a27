"""What Blender shows of callboard."""
