"""The programs that people start: the command line, gateway, farm, batch, bridge and setup."""
