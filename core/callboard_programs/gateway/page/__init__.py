"""The gateway's page: the applications on this machine, for the person at the machine."""
