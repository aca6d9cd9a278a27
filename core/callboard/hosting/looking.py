"""What a host offers to be seen: pictures of its scene, for an agent that has no screen."""

from __future__ import annotations

from typing import Protocol


class MakesSmall(Protocol):
    """What a port ``render`` may have besides: without it only PNG files can be shown smaller than
    they are. Main thread."""

    def small(self, path: str, longest: int) -> bytes:
        """The picture in that file with at most ``longest`` pixels on its longer side, as a file of
        the same format. Raises HostError."""
