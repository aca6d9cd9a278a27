"""The compliance suite's checks of a host."""
