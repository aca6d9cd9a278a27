"""What several ports of OpenUSD stand on."""
