"""Parts shared by several of 3ds Max's ports."""
