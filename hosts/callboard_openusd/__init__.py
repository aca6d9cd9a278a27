"""The standalone host: an OpenUSD stage as the scene, without an application."""
