"""The port ``render``: pictures written to files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from callboard.content import Json


class RenderPort(Protocol):
    """Capability ``render``. Rendering is sliced: one frame a step. What it returns names in
    ``left_out`` the outputs of the scene's own that a call may not write, where there are any."""

    def still(self, path: str, width: int, height: int, frame: int | None) -> Json:
        """Renders one frame. Returns ``{path, width, height, frame, seconds}``; a generator as
        :mod:`callboard.ground.unattended` says where the interface goes on meanwhile."""

    def turntable(self, pattern: str, width: int, height: int, frames: int) -> Iterator[Json]:
        """Orbits the camera once around the scene; yields ``{path, frame}`` per frame written.
        Restores the camera when it ends, fails or is closed."""


class MakesSmall(Protocol):
    """What a port ``render`` may have besides. Without it only PNG files can be shown smaller than
    they are."""

    def small(self, path: str, longest: int) -> bytes:
        """The picture in that file with at most ``longest`` pixels on its longer side, as a file of
        the same format. Raises HostError."""
