"""The ``modelling`` port: changes that need a modeller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

UnwrapMethod = Literal["smart", "box"]
CleanedFault = Literal["zero_faces", "ngons"]

#: The values of each kind of modifier.
MODIFIERS: Mapping[str, tuple[str, ...]] = {
    "bevel": ("width", "segments", "angle"),
    "boolean": ("operation", "other"),
    "mirror": ("axis", "other"),
    "array": ("count", "offset"),
    "solidify": ("thickness",),
    "decimate": ("ratio",),
    "triangulate": (),
    "weld": ("distance",),
    "subdivide": ("levels", "render_levels"),
}


class ModellingPort(Protocol):
    """Capability ``modelling``. Modifiers are live; other changes are permanent, and only affect
    the named object. ``faces`` are indices, or the world direction that the faces point in: top,
    front …"""

    def add_modifier(self, name: str, kind: str, values: Mapping[str, object]) -> str:
        """Add a modifier at the end of the stack. Return its name."""

    def set_modifier(self, name: str, modifier: str, values: Mapping[str, object]) -> None: ...

    def remove_modifier(self, name: str, modifier: str) -> None: ...

    def apply_modifiers(self, name: str) -> None:
        """Turn the result of the modifiers into the mesh. Modifiers that are switched off stay."""

    def apply_scale(self, name: str) -> None:
        """Move the object's scale into its mesh, so that the scale becomes 1. Its children stay as
        they are."""

    def clean(self, name: str, fault: CleanedFault) -> None:
        """Fix a fault: ``zero_faces`` removes faces and edges without extent; ``ngons`` turns faces
        with more than four corners into triangles."""

    def merge(self, name: str, distance: float) -> None:
        """Merge vertices that are no farther apart than ``distance``."""

    def extrude(self, name: str, faces: Sequence[int] | str, distance: float) -> list[int]:
        """Extrude the faces together along their average normal. Return their new indices."""

    def inset(
        self, name: str, faces: Sequence[int] | str, thickness: float, depth: float
    ) -> list[int]:
        """Inset the faces. Return their indices inside the new border."""

    def unwrap(self, name: str, method: UnwrapMethod, angle: float, margin: float) -> None:
        """Replace the active UVs. ``smart`` cuts where faces turn by more than ``angle``, and keeps
        islands ``margin`` apart, as a fraction of the whole. ``box`` projects from six sides, one
        scene unit per tile."""

    def create_text(self, name: str | None, text: str, values: Mapping[str, object]) -> str:
        """Make a text object at the origin, in the ground plane's X and Y, with ``size``, ``depth``
        and ``align`` (left, center, right). Return its path."""

    def create_curve(
        self, name: str | None, points: Sequence[Sequence[float]], values: Mapping[str, object]
    ) -> str:
        """Make a curve through these points, with ``smooth``, ``closed``, and ``radius`` of the
        tube along it. Return its path."""
