"""What a host tells of its scene so that it can be checked: the port ``check``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from callboard.content import Json
from callboard.errors import HostError

Severity = Literal["error", "warning", "hint"]


@dataclass(frozen=True)
class Fault:
    """What is wrong with an object, by its path, or with the scene, whose object is empty. ``fix``
    is the call that mends it, ``{tool, arguments}``, or None where only a person can."""

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
    """One object's own faces, in its own space: ``points`` as ``[x, y, z]``, how many corners each
    face has, and the point of each corner, against the clock seen from outside. ``uvs`` are
    ``[u, v]`` for each corner, None where there are none."""

    points: Sequence[Sequence[float]]
    counts: Sequence[int]
    corners: Sequence[int]
    uvs: Sequence[Sequence[float]] | None


@dataclass(frozen=True)
class UsedFile:
    """A file that the scene names. ``object`` is who names it, by name. ``color_space`` is the
    host's word for a picture's, empty where none is set, None for what isn't a picture. ``used`` is
    false where nothing in the scene uses who names it: a material that no object has."""

    path: str
    object: str
    missing: bool
    color_space: str | None = None
    used: bool = True


class CheckPort(Protocol):
    """Capability ``check``. It changes nothing. Main thread."""

    def fix(self, rule: str, path: str) -> Json | None:
        """The call that mends it there, ``{tool, arguments}``. None where there is none."""

    def meshes(self) -> Sequence[str]:
        """The paths of the objects that are meshes, in scene order."""

    def face_count(self, path: str) -> int:
        """How many faces it has; costs little."""

    def mesh(self, path: str) -> MeshData: ...

    def shared(self, path: str) -> str:
        """The same for all objects that share a mesh, and for no others; costs little."""

    def files(self) -> Iterable[UsedFile]: ...

    def materials_of(self, name: str) -> list[str]:
        """The names of the object's materials."""

    def seen(self, camera: str | None, points: Sequence[Sequence[float]]) -> float:
        """The share of the points, in the world, that lie inside the camera's picture: the scene's
        own camera without a name. What is in between doesn't count. Raises HostError."""

    def validate(self, path: str | None) -> Iterable[Fault]:
        """What the host's own validators find in the scene, or in that file. Raises HostError for
        a file where it has none."""


@dataclass
class MeshFacts:
    """What ``mesh_facts`` counts. ``overlap`` is the share of the UV area that is used twice."""

    faces: int = 0
    non_manifold: int = 0
    flipped: int = 0
    open_edges: int = 0
    zero_faces: int = 0
    ngons: int = 0
    volume: float = 0.0
    overlap: float | None = None


def no_validators() -> HostError:
    """What ``validate`` raises for a file where the application has none."""
    return HostError(
        "this application brings no validators of OpenUSD's; check the file with"
        " `callboard serve --host openusd`"
    )
