"""The ``look`` port: pictures of a host's scene for an agent that has no screen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from callboard.content import Json
from callboard.ground.orbit import Point, View, seeing
from callboard.ground.png import Picture

Shading = Literal["solid", "wireframe", "xray", "material", "rendered"]

#: Each view's fraction of a full turn around the scene, counted from the front, and the degrees by
#: which the view looks down.
ANGLES: dict[str, tuple[float, float]] = {
    "front": (0.0, 0.0),
    "right": (0.25, 0.0),
    "back": (0.5, 0.0),
    "left": (0.75, 0.0),
    "top": (0.0, 90.0),
    "bottom": (0.0, -90.0),
    "three_quarter": (0.125, 25.0),
}
#: Half of the field of view, in degrees. It is narrow for views along an axis, so that lengths can
#: be compared.
_NARROW, _WIDE = 6.0, 20.0


@dataclass(frozen=True)
class Look:
    """A request for one picture, from ``camera`` (an object's name), or else from ``view``, or else
    from the artist's view. If ``shading`` is None, the picture has the shading of the artist's
    view, or the host's usual shading."""

    width: int
    height: int
    camera: str | None = None
    view: View | None = None
    shading: Shading | None = None
    #: True to include the grid, names, bones and other things that aren't rendered.
    overlays: bool = False
    #: The frame, or None for the current one.
    frame: float | None = None


class LookPort(Protocol):
    """Capability ``look``. Runs on the main thread. Afterwards, even after a failure, the artist's
    view, camera, frame, selection, undo steps and render settings are as before."""

    def picture(self, asked: Look) -> tuple[Picture, Json]:
        """Return the picture at exactly the requested size, and facts about it: ``engine`` and
        ``samples`` if it was rendered, ``doubt`` if the picture might not show what was meant."""

    def own_view(self) -> bool:
        """Return whether a picture needs neither ``camera`` nor ``view``, because there is an
        artist's view or a scene camera."""

    def boxes(self) -> Iterable[tuple[Point, Point]]:
        """Return boxes around everything visible, each as its low and high corner in the world."""


class Picks(Protocol):
    """An optional part of the ``look`` port. Without it, no object can be picked in a picture. Runs
    on the main thread."""

    def under(self, asked: Look, x: float, y: float) -> tuple[str, Point] | None:
        """Return the path of the object that this picture shows at a point, and the point in the
        world, or None when there is no object. ``x`` and ``y`` are fractions of the picture's width
        and height, from the top left. Raises HostError."""


def from_angle(angle: str, low: Point, high: Point, aspect: float, up_axis: str) -> View:
    """Return a view of the whole box from one of ``ANGLES``."""
    turn, down = ANGLES[angle]
    half = _WIDE if angle == "three_quarter" else _NARROW
    return seeing(low, high, turn, down, half, aspect, up_axis)
