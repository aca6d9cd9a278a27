"""Parts shared by several of Maya's ports."""
