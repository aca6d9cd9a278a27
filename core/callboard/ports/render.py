"""The ``render`` port: pictures written to files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from callboard.content import Json


class RenderPort(Protocol):
    """Capability ``render``. Rendering is sliced: one frame per step. If the scene has outputs that
    a call isn't allowed to write, ``left_out`` in the call's result lists them."""

    def still(self, path: str, width: int, height: int, frame: int | None) -> Json:
        """Render one frame. Return ``{path, width, height, frame, seconds}``. If the interface
        stays usable during the render, return a generator instead, as
        :mod:`callboard.ground.unattended` describes."""

    def turntable(self, pattern: str, width: int, height: int, frames: int) -> Iterator[Json]:
        """Orbit the camera once around the scene; yield ``{path, frame}`` for each frame written.
        In the file name of ``pattern``, a run of # stands for the frame's number with as many
        digits: the first file of ``turn_####.png`` is ``turn_0001.png``. Restore the camera at the
        end, after a failure and when the iterator is closed."""


class MakesSmall(Protocol):
    """An optional part of the ``render`` port. Without it, only PNG files can be scaled down."""

    def small(self, path: str, longest: int) -> bytes:
        """Return the picture in that file with at most ``longest`` pixels on its longer side, as a
        file of the same format. Raises HostError."""
