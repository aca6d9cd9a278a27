"""Parts shared by several of Houdini's ports."""
