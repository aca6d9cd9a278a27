"""The port ``viewport``: the artist's 3D view."""

from __future__ import annotations

from typing import Protocol


class ViewportPort(Protocol):
    """Capability ``viewport``: what the artist sees."""

    def capture(self, width: int, height: int) -> bytes:
        """The active 3D view, drawn at exactly that size, as PNG; the view itself stays as it
        is."""
