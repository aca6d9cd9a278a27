"""What a host offers to be seen: pictures of its scene, for an agent that has no screen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from callboard.content import Json
from callboard.ground.orbit import Point, View, seeing
from callboard.ground.png import Picture

Shading = Literal["solid", "wireframe", "xray", "material", "rendered"]

#: How far around the scene, of a whole turn and from its front, and how many degrees down.
ANGLES: dict[str, tuple[float, float]] = {
    "front": (0.0, 0.0),
    "right": (0.25, 0.0),
    "back": (0.5, 0.0),
    "left": (0.75, 0.0),
    "top": (0.0, 90.0),
    "bottom": (0.0, -90.0),
    "three_quarter": (0.125, 25.0),
}
#: Half of what is seen across: narrow from straight angles, so that lengths can be compared.
_NARROW, _WIDE = 6.0, 20.0


@dataclass(frozen=True)
class Look:
    """One picture. From ``camera``, an object's name, else from ``view``, else as the artist
    looks. Without a ``shading`` it is the artist's, or the host's usual one."""

    width: int
    height: int
    camera: str | None = None
    view: View | None = None
    shading: Shading | None = None
    #: With grid, names, bones and other things that aren't rendered.
    overlays: bool = False
    #: At this frame, else at the current one.
    frame: float | None = None


class LookPort(Protocol):
    """Capability ``look``. Main thread. Afterwards the artist's view, camera, frame, selection,
    undo steps and render settings are as before, also when it fails."""

    def picture(self, asked: Look) -> tuple[Picture, Json]:
        """The picture at exactly that size, and what is to be said of it: ``engine`` and
        ``samples`` where it was rendered, ``doubt`` where it may not show what was meant."""

    def own_view(self) -> bool:
        """Whether there is a view without ``camera`` and ``view``: the artist's, or what the
        scene's camera sees."""

    def boxes(self) -> Iterable[tuple[Point, Point]]:
        """Low and high corner, in the world, of whatever is visible."""


class Picks(Protocol):
    """What a port ``look`` may have besides: without it nothing can be pointed at. Main thread."""

    def under(self, asked: Look, x: float, y: float) -> tuple[str, Point] | None:
        """The path of the object that this picture shows at a point, and where in the world that
        is; None where it shows none. ``x`` and ``y`` are shares of its width and height, from the
        top left. Raises HostError."""


def from_angle(angle: str, low: Point, high: Point, aspect: float, up_axis: str) -> View:
    """Sees the whole box from one of ``ANGLES``."""
    turn, down = ANGLES[angle]
    half = _WIDE if angle == "three_quarter" else _NARROW
    return seeing(low, high, turn, down, half, aspect, up_axis)
