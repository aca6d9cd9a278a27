"""Maya as a host: inside Maya, and under ``mayapy``."""
