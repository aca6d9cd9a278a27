"""The standalone host: an OpenUSD stage as the scene, no application needed."""
