"""The REST face below ``/v1``."""
