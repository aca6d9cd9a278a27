"""The ports behind shapes: what a mesh is and how it is changed. The conventions are the host
contract's: main thread, scene units, degrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from callboard.content import Json
from callboard.ports.capability_names import GEOMETRY as GEOMETRY
from callboard.ports.capability_names import MODELLING as MODELLING
from callboard.ports.check import MeshData

SubdivisionScheme = Literal["none", "catmull_clark", "bilinear", "loop"]
#: Where faces are to look: away from the inside, into it, or to the other side than now.
FacesLook = Literal["outside", "inside", "flip"]
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


class GeometryPort(Protocol):
    """Capability ``geometry``. A shape that several objects share is changed for the named object
    alone. Raises ObjectNotFound, AmbiguousName, and HostError where the object has no mesh of its
    own."""

    def info(self, name: str) -> Json:
        """``{path, type, mesh, result, shading, subdivision, uv_sets, modifiers}``. ``mesh`` and
        ``result``, which modifiers make of it, are ``{vertices, edges, faces, triangles}``; the
        first is None of what has no mesh of its own, text say, the second where nobody tells.
        ``shading`` is smooth, flat or mixed; ``subdivision`` is ``{scheme, levels}``, levels None
        where the renderer chooses; ``modifiers`` has ``{name, kind}`` with the values of
        ``MODIFIERS``, a kind of ours or the host's word. ``text`` or ``curve`` has what made
        such a shape. ``doubt`` as in ``SceneReader``."""

    def mesh(self, name: str) -> MeshData:
        """As it is modelled, before modifiers."""

    def subdivide(self, name: str, scheme: SubdivisionScheme, levels: int) -> None:
        """Rounds the shape, live; ``none`` ends that."""

    def orient(self, name: str, side: FacesLook) -> None: ...

    def triangulate(self, name: str) -> None:
        """Every face becomes triangles, for good."""

    def shade(self, name: str, smooth: bool, angle: float | None) -> None:
        """``angle``: edges that are sharper stay sharp."""


class ModellingPort(Protocol):
    """Capability ``modelling``: what needs a modeller. Modifiers are live; other changes are for
    good, and for the named object alone. ``faces`` are indices, or the side of the world that they
    look to: top, front …"""

    def add_modifier(self, name: str, kind: str, values: Mapping[str, object]) -> str:
        """At the end of the stack; its name."""

    def set_modifier(self, name: str, modifier: str, values: Mapping[str, object]) -> None: ...

    def remove_modifier(self, name: str, modifier: str) -> None: ...

    def apply_modifiers(self, name: str) -> None:
        """What the modifiers show becomes the mesh; those that are switched off stay."""

    def apply_scale(self, name: str) -> None:
        """The object's scale goes into its mesh and becomes 1; what is below it stays as it is."""

    def clean(self, name: str, fault: CleanedFault) -> None:
        """``zero_faces``: faces and edges without extent go; ``ngons``: what has more than four
        corners becomes triangles."""

    def merge(self, name: str, distance: float) -> None:
        """Vertices that are no farther apart become one."""

    def extrude(self, name: str, faces: Sequence[int] | str, distance: float) -> list[int]:
        """The faces together, along their average normal; which faces they are now."""

    def inset(
        self, name: str, faces: Sequence[int] | str, thickness: float, depth: float
    ) -> list[int]:
        """Which faces they are now, inside their new border."""

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
