"""The ``scene.mutate`` port: making, changing and deleting objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from callboard.errors import HostError

Vector = Sequence[float]
PrimitiveKind = Literal["sphere", "cube", "plane", "cylinder", "cone", "torus"]
#: The dimensions of each kind of primitive, with their defaults in scene units.
DIMENSIONS: dict[str, dict[str, float]] = {
    "sphere": {"radius": 1.0},
    "cube": {"size": 2.0},
    "plane": {"width": 2.0, "depth": 2.0},
    "cylinder": {"radius": 1.0, "height": 2.0},
    "cone": {"radius": 1.0, "height": 2.0},
    "torus": {"major_radius": 1.0, "minor_radius": 0.25},
}


class NotOffered(HostError):
    """Raised by a port when the application doesn't have the feature at all, such as parents or a
    scale. The compliance suite skips a check that raises it."""


class SceneEditor(Protocol):
    """Capability ``scene.mutate``. Each method does one thing and returns the full path of the
    object; the ``scene`` skill reads the result back and verifies it."""

    def create(self, kind: PrimitiveKind, name: str | None, dimensions: Mapping[str, float]) -> str:
        """Create a primitive. ``dimensions`` has exactly the keys of that kind in ``DIMENSIONS``.
        The primitive is centered on the origin, with its axis along the host's up axis. A taken
        name gets the host's own suffix."""

    def set_transform(
        self, name: str, translate: Vector | None, rotate: Vector | None, scale: Vector | None
    ) -> str:
        """Set the local components that aren't None."""

    def set_parent(self, name: str, parent: str | None, keep_world: bool) -> str: ...

    def rename(self, name: str, new_name: str) -> str: ...

    def delete(self, names: Sequence[str]) -> list[str]:
        """Delete the objects with their descendants; return every path removed."""

    def duplicate(self, name: str, new_name: str | None) -> str:
        """Copy the object with its descendants. The copy has the same parent."""

    def select(self, names: Sequence[str]) -> list[str]:
        """Replace the selection."""

    def set_color(self, name: str, color: Vector) -> str:
        """Give the object its own material or display color, with this linear RGB, 0..1."""
