"""The ``check`` port, which returns the facts that the scene's checks need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from callboard.content import Json
from callboard.errors import HostError

Severity = Literal["error", "warning", "hint"]


@dataclass(frozen=True)
class Fault:
    """A fault in an object or in the scene. ``object`` is the object's path, or empty for the
    scene. ``fix`` is the call that fixes the fault, ``{tool, arguments}``, or None if only a person
    can fix it."""

    rule: str
    object: str
    why: str
    severity: Severity = "warning"
    fix: Json | None = None

    def as_json(self) -> Json:
        entry: Json = {"rule": self.rule, "object": self.object, "why": self.why}
        entry["severity"] = self.severity
        return entry if self.fix is None else {**entry, "fix": self.fix}


@dataclass(frozen=True)
class MeshData:
    """The faces of one object, in the object's own space: ``points`` as ``[x, y, z]``, the number
    of corners of each face, and the point of each corner, counterclockwise seen from outside.
    ``uvs`` are ``[u, v]`` for each corner, or None without UVs."""

    points: Sequence[Sequence[float]]
    counts: Sequence[int]
    corners: Sequence[int]
    uvs: Sequence[Sequence[float]] | None


@dataclass(frozen=True)
class UsedFile:
    """A file that the scene refers to. ``object`` is the name of whatever uses the file.
    ``color_space`` is the host's word for a picture's color space, empty when none is set, and None
    for other files. ``used`` is False when nothing in the scene uses that object, for instance if
    it is a material that isn't assigned. ``objects`` are the paths of the scene's objects that use
    the file, as far as the host knows them."""

    path: str
    object: str
    missing: bool
    color_space: str | None = None
    used: bool = True
    absolute: bool = False
    objects: Sequence[str] = ()


class CheckPort(Protocol):
    """Capability ``check``. Changes nothing. Runs on the main thread. A port may also have
    ``object_faults(path)``, which returns the faults of an object that only the host can detect,
    under the rules ``empty_mesh``, ``loose``, ``not_deformed``, ``not_rendered``, ``no_effect``,
    ``broken_constraints`` and ``broken_drivers``, or, of an object that has materials, under
    ``no_material``; ``settable(path, component)``, which returns
    whether ``scene__transform`` can set ``translate``, ``rotate`` or ``scale`` of the object, for
    instance because it isn't animated; and ``surfaces()``, the paths of the objects that need a
    material, if these aren't just the meshes."""

    def fix(self, rule: str, path: str) -> Json | None:
        """Return the call that fixes the fault that this rule found at this path, ``{tool,
        arguments}``, or None."""

    def meshes(self) -> Sequence[str]:
        """Return the paths of the objects that are meshes, in scene order."""

    def face_count(self, path: str) -> int:
        """Return the number of faces. This is cheap."""

    def mesh(self, path: str) -> MeshData: ...

    def shared(self, path: str) -> str:
        """Return a key that is the same for all objects that share a mesh, and for no others. This
        is cheap."""

    def files(self) -> Iterable[UsedFile]: ...

    def materials_of(self, name: str) -> list[str]:
        """Return the names of the object's materials."""

    def seen(self, camera: str | None, points: Sequence[Sequence[float]]) -> float:
        """Return the fraction of the points, given in world space, that are inside the picture of
        ``camera``, or of the scene's own camera when ``camera`` is None. Points hidden by objects
        count too. Raises HostError."""

    def validate(self, path: str | None) -> Iterable[Fault]:
        """Return the faults that the host's own validators find in the scene, or in the file
        ``path``. Raises HostError for a file when the host has no validators."""


@dataclass
class MeshFacts:
    """The counts of ``mesh_facts``. ``overlap`` is the fraction of the UV area that is used
    twice."""

    faces: int = 0
    non_manifold: int = 0
    flipped: int = 0
    open_edges: int = 0
    zero_faces: int = 0
    ngons: int = 0
    volume: float = 0.0
    overlap: float | None = None


def no_validators() -> HostError:
    """Return the error that ``validate`` raises for a file when the application has no
    validators."""
    return HostError(
        "this application has no OpenUSD validators; check the file with"
        " `callboard serve --host openusd`"
    )
