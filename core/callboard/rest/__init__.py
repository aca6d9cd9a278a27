"""The REST interface below ``/v1``."""
