"""The names of what a host can offer beside the scene itself. Each is a port, in a module that is
loaded when it is used."""

MATERIALS = "materials"
MODELLING = "modelling"
LIGHTS = "lights"
CAMERAS = "cameras"
STRUCTURE = "structure"
ATTRIBUTES = "attributes"
EXCHANGE = "exchange"
GEOMETRY = "geometry"
LOOK = "look"
CHECK = "check"
DOCS = "docs"
NETWORK = "network"
#: The server's own, where a farm's scheduler is set: no host has a port for it.
FARM = "farm.run"
