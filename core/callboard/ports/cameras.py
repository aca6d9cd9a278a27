"""The port ``cameras``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from callboard.content import Json


class CamerasPort(Protocol):
    """Capability ``cameras``. Cameras are objects of the scene, and look along their own -Z. Their
    values are

    ``lens`` and ``sensor``, its width, in millimetres; ``clip``, ``[near, far]``, and
    ``focus_distance`` in scene units; ``fstop``, 0 where everything is sharp; ``active``, true of
    the camera that pictures are taken with."""

    def names(self) -> Mapping[str, str]:
        """Every camera's bare name by its path."""

    def get(self, name: str) -> Json:
        """``{name, path, projection, fov}`` and the values. ``projection`` is perspective,
        orthographic or the host's word; ``fov`` ``[horizontal, vertical]`` of the picture, degrees,
        None where it isn't perspective. ``doubt`` as in ``SceneReader``. Raises ObjectNotFound,
        AmbiguousName, and HostError where the object is no camera."""

    def create(self, name: str | None) -> str:
        """A new camera at the origin, by its path."""

    def set(self, name: str, values: Mapping[str, object]) -> str:
        """Sets the values that are given, for this object alone."""
