"""The ``geometry`` port: meshes, and the changes that every host can make to them."""

from __future__ import annotations

from typing import Literal, Protocol

from callboard.content import Json
from callboard.ports.check import MeshData

SubdivisionScheme = Literal["none", "catmull_clark", "bilinear", "loop"]
#: The direction to turn faces to: out of the object, into it, or the opposite of the current one.
FacesLook = Literal["outside", "inside", "flip"]


class GeometryPort(Protocol):
    """Capability ``geometry``. A shape that several objects share is changed only for the named
    object. Raises ObjectNotFound, AmbiguousName, and HostError when the object has no mesh of its
    own."""

    def info(self, name: str) -> Json:
        """Return ``{path, type, mesh, result, shading, subdivision, uv_sets, modifiers}``.
        ``mesh``, and ``result`` after the modifiers, are ``{vertices, edges, faces, triangles}``.
        ``mesh`` is None for an object without a mesh of its own, such as text; ``result`` is None
        when it isn't known. ``shading`` is smooth, flat or mixed. ``subdivision`` is ``{scheme,
        levels}``, with levels None when the renderer chooses. ``modifiers`` has ``{name, kind}``
        with the values of ``MODIFIERS``; ``kind`` is one of our kinds or the host's own term.
        ``text`` or ``curve`` has the source of a text's or a curve's shape. ``doubt`` is as in
        ``SceneReader``."""

    def mesh(self, name: str) -> MeshData:
        """Return the mesh before modifiers."""

    def subdivide(self, name: str, scheme: SubdivisionScheme, levels: int) -> None:
        """Subdivide the shape without changing its mesh. The scheme ``none`` removes the
        subdivision."""

    def orient(self, name: str, side: FacesLook) -> None: ...

    def triangulate(self, name: str) -> None:
        """Turn every face into triangles, permanently."""

    def shade(self, name: str, smooth: bool, angle: float | None) -> None:
        """Shade smooth or flat. Edges sharper than ``angle`` stay sharp."""
