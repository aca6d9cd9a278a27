"""The gateway's page: what runs on this machine, for the one who sits there."""
