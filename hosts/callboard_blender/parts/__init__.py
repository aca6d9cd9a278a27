"""Parts shared by several of Blender's ports."""
