"""The gateway's page, which shows the applications on this machine to the person at the machine."""
