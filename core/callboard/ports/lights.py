"""The ``lights`` port, for lights and the scene's environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from callboard.content import Json

LightKind = Literal["sun", "point", "spot", "area", "dome"]


class LightsPort(Protocol):
    """Capability ``lights``. Lights are objects of the scene, and shine along their own -Z. Their
    values are

    ``color``; ``power``, the radiation that leaves a point, spot or area, in watts, or that arrives
    from a sun, in watts per square meter; ``intensity``, the same quantity in the host's own units;
    ``exposure``, extra stops; ``size``, ``[width, height]`` of an area, ``[diameter, diameter]`` of
    a point or spot; ``angle``, a sun's diameter or a spot's whole cone, in degrees; ``blend``, the
    soft part of a spot's cone, 0 to 1. A value that a kind doesn't have is None, and setting it is
    an error.
    """

    def names(self) -> Mapping[str, str]:
        """Return the bare names of all lights, by path."""

    def get(self, name: str) -> Json:
        """Return ``{name, path, kind}`` and the values. ``kind`` is one of our kinds, or else the
        host's own term. ``doubt`` is as in ``SceneReader``. Raises ObjectNotFound, AmbiguousName,
        and HostError when the object isn't a light."""

    def create(self, kind: LightKind, name: str | None) -> str:
        """Make a light at the origin; return its path."""

    def set(self, name: str, values: Mapping[str, object]) -> str:
        """Set the given values for this object only."""

    def environment(self) -> Json:
        """Return the scene's environment: ``{kind, path, color, strength, rotate, sun_elevation}``.
        ``kind`` is image, color, sky, none or other; ``rotate`` is degrees about the up axis."""

    def set_environment(self, values: Mapping[str, object]) -> None:
        """Set the given values of the environment, out of ``path, color, sun_elevation, strength,
        rotate``. At most one of the first three may be given. An environment that the artist made
        stays in the file."""
