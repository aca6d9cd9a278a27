"""The programs that people start: command line, gateway, farm, batch, bridge, setup."""
