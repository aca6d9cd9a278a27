"""The ``cameras`` port: the scene's cameras, and the choice of the active one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from callboard.content import Json


class CamerasPort(Protocol):
    """Capability ``cameras``. Cameras are objects of the scene, and look along their own -Z. Their
    values are

    ``lens``, the focal length, and ``sensor``, its width, in millimeters; ``clip``, ``[near,
    far]``, and ``focus_distance`` in scene units; ``fstop``, 0 when everything is sharp;
    ``active``, True for the camera that takes the pictures.
    """

    def names(self) -> Mapping[str, str]:
        """Return the bare names of all cameras, by path."""

    def get(self, name: str) -> Json:
        """Return ``{name, path, projection, fov}`` and the values. ``projection`` is perspective,
        orthographic or the host's word; ``fov`` is the picture's ``[horizontal, vertical]`` angle
        in degrees, or None without perspective. ``doubt`` is as in ``SceneReader``. Raises
        ObjectNotFound, AmbiguousName, and HostError when the object isn't a camera."""

    def create(self, name: str | None) -> str:
        """Make a camera at the origin; return its path."""

    def set(self, name: str, values: Mapping[str, object]) -> str:
        """Set the given values for this object only."""
