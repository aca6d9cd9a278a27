"""The port ``geometry``: meshes, and the changes to them that every host can make."""

from __future__ import annotations

from typing import Literal, Protocol

from callboard.content import Json
from callboard.ports.check import MeshData

SubdivisionScheme = Literal["none", "catmull_clark", "bilinear", "loop"]
#: The side that faces shall look to: out of the object, into it, or the opposite of now.
FacesLook = Literal["outside", "inside", "flip"]


class GeometryPort(Protocol):
    """Capability ``geometry``. A shape that several objects share is changed for the named object
    alone. Raises ObjectNotFound, AmbiguousName, and HostError where the object has no mesh of its
    own."""

    def info(self, name: str) -> Json:
        """``{path, type, mesh, result, shading, subdivision, uv_sets, modifiers}``. ``mesh`` and
        ``result``, the mesh after modifiers, are ``{vertices, edges, faces, triangles}``. ``mesh``
        is None for an object without one of its own, such as text; ``result`` is None where the
        host can't say. ``shading`` is smooth, flat or mixed; ``subdivision`` is
        ``{scheme, levels}``, levels None where the renderer chooses; ``modifiers`` has
        ``{name, kind}`` with the values of ``MODIFIERS``, a kind of ours or the host's word.
        ``text`` or ``curve`` has what made such a shape. ``doubt`` as in ``SceneReader``."""

    def mesh(self, name: str) -> MeshData:
        """The mesh before modifiers."""

    def subdivide(self, name: str, scheme: SubdivisionScheme, levels: int) -> None:
        """Rounds the shape, live; ``none`` ends that."""

    def orient(self, name: str, side: FacesLook) -> None: ...

    def triangulate(self, name: str) -> None:
        """Every face becomes triangles, for good."""

    def shade(self, name: str, smooth: bool, angle: float | None) -> None:
        """``angle``: edges that are sharper stay sharp."""
