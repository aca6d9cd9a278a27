"""The port ``modelling``: what needs a modeller."""

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
}


class ModellingPort(Protocol):
    """Capability ``modelling``. Modifiers are live; other changes are for good, and for the named
    object alone. ``faces`` are indices, or the side of the world that they look to: top, front …"""

    def add_modifier(self, name: str, kind: str, values: Mapping[str, object]) -> str:
        """Adds it at the end of the stack. Returns its name."""

    def set_modifier(self, name: str, modifier: str, values: Mapping[str, object]) -> None: ...

    def remove_modifier(self, name: str, modifier: str) -> None: ...

    def apply_modifiers(self, name: str) -> None:
        """The result of the modifiers becomes the mesh; those that are switched off stay."""

    def apply_scale(self, name: str) -> None:
        """The object's scale goes into its mesh and becomes 1. Its children stay as they are."""

    def clean(self, name: str, fault: CleanedFault) -> None:
        """``zero_faces``: removes faces and edges without extent. ``ngons``: makes triangles of
        faces with more than four corners."""

    def merge(self, name: str, distance: float) -> None:
        """Vertices that are no farther apart become one."""

    def extrude(self, name: str, faces: Sequence[int] | str, distance: float) -> list[int]:
        """Moves the faces together along their average normal. Returns their indices afterwards."""

    def inset(
        self, name: str, faces: Sequence[int] | str, thickness: float, depth: float
    ) -> list[int]:
        """Gives the faces a new border. Returns the indices of the faces inside it."""

    def unwrap(self, name: str, method: UnwrapMethod, angle: float, margin: float) -> None:
        """New UVs in place of the active ones: ``smart`` cuts where faces turn by more than
        ``angle``, islands keep ``margin``, a share of the whole, apart; ``box`` projects from six
        sides, one scene unit a tile."""

    def create_text(self, name: str | None, text: str, values: Mapping[str, object]) -> str:
        """At the origin, in the ground plane's X and Y; ``size``, ``depth`` and ``align`` (left,
        center, right). Its path."""

    def create_curve(
        self, name: str | None, points: Sequence[Sequence[float]], values: Mapping[str, object]
    ) -> str:
        """Through these points; ``smooth``, ``closed``, and ``radius`` of the tube along it. Its
        path."""
