"""The base of hosts that are Qt applications: the host, the plug-in's life, its panel, and the way
onto the main thread. A host of its own adds its ports, and what its application calls things."""
