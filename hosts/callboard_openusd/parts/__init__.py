"""Parts shared by several of OpenUSD's ports."""
