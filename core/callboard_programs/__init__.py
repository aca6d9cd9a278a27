"""What people start: command line, gateway, farm, batch, bridge, setup."""
