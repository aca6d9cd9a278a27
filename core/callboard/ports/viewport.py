"""The ``viewport`` port: the artist's 3D view."""

from __future__ import annotations

from typing import Protocol


class ViewportPort(Protocol):
    """Capability ``viewport``: the artist's view."""

    def capture(self, width: int, height: int) -> bytes:
        """Return the active 3D view, drawn at exactly that size, as PNG. The view itself stays as
        it is."""
