"""The ``exchange`` port: reading and writing the files of other programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from callboard.content import Json
from callboard.errors import HostError

if TYPE_CHECKING:
    from callboard.ports.check import CheckPort
    from callboard.ports.materials import MaterialsPort

UpAxis = Literal["Y", "Z"]

#: The suffixes of each format, the usual one first.
SUFFIXES: Mapping[str, tuple[str, ...]] = {
    "gltf": (".glb", ".gltf"),
    "fbx": (".fbx",),
    "obj": (".obj",),
    "stl": (".stl",),
    "ply": (".ply",),
    "alembic": (".abc",),
    "usd": (".usda", ".usdc", ".usd", ".usdz"),
}
#: Formats that state neither units nor an up axis; the caller of an import or export passes both.
UNSTATED = frozenset({"obj", "stl", "ply", "alembic"})
#: Formats whose readers expect UVs.
WITH_UVS = frozenset({"gltf", "fbx", "obj", "alembic", "usd"})


@dataclass(frozen=True)
class FileFormat:
    """One format as this host supports it now. ``reads`` and ``writes`` are suffixes; ``missing``
    says why one or both are empty, and what to do. ``meters_per_unit`` and ``up_axis`` are those of
    the files that the host writes, and those that the host assumes for a file that states neither.
    ``fixed`` is True when the host can't write files with other units or axes."""

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    meters_per_unit: float = 1.0
    up_axis: UpAxis = "Y"
    missing: str = ""
    fixed: bool = False


@dataclass(frozen=True)
class Axes:
    """A file's units and up axis. ``stated`` is True when the file itself has them; otherwise they
    were assumed."""

    meters_per_unit: float
    up_axis: str
    stated: bool = True


class ExchangePort(Protocol):
    """Capability ``exchange``. Paths are absolute and already checked; their suffix is one that
    ``formats`` names. Raises HostError."""

    def formats(self) -> Sequence[FileFormat]:
        """Return every format in ``SUFFIXES``, as the application supports it now."""

    def import_file(self, path: str, parent: str | None, axes: Axes | None) -> Axes:
        """Add the file's content to the scene, below ``parent`` or at the top, in the scene's units
        and axes. Pass ``axes`` only for a format that doesn't have any. Return the file's axes."""

    def export_file(
        self, path: str, objects: Sequence[str] | None, axes: Axes | None
    ) -> tuple[list[str], Axes]:
        """Write these objects with everything below them, or, if ``objects`` is None, the whole
        scene. Return the files written, the requested one first, and their axes. Files are complete
        or not written at all."""

    def without_uvs(self, objects: Sequence[str] | None) -> Mapping[str, bool]:
        """Return the exported meshes that have faces but no UVs, by path. The value is True when
        the mesh has a texture."""


def format_of(path: str, formats: Sequence[FileFormat], *, write: bool) -> FileFormat:
    """Return the format of that file. Raises HostError when the host can't read or write it."""
    file = Path(path)
    suffix = file.suffix.lower()
    name = next((name for name, suffixes in SUFFIXES.items() if suffix in suffixes), None)
    known = next((each for each in formats if each.name == name), None)
    if known is not None and suffix in (known.writes if write else known.reads):
        return known
    can = [each for one in formats for each in (one.writes if write else one.reads)]
    why = f": {known.missing}" if known is not None and known.missing else ""
    raise HostError(
        f"'{file.name}' can't be {'written' if write else 'read'} here{why}; this host"
        f" {'writes' if write else 'reads'} {', '.join(can) or 'no such files'}"
    )


def kind_of(path: str) -> str:
    """Return the name of the file's format. The path's suffix must be one of ``SUFFIXES``."""
    suffix = Path(path).suffix.lower()
    return next(name for name, known in SUFFIXES.items() if suffix in known)


def lacking_uvs(
    meshes: Iterable[str], checks: CheckPort, materials: MaterialsPort
) -> dict[str, bool]:
    """Return the given meshes that have faces but no UVs, by path. The value is True when the mesh
    has a texture."""
    absent = {}
    for path in meshes:
        if checks.face_count(path) and checks.mesh(path).uvs is None:
            used = materials.assigned(path)
            absent[path] = any(materials.get(each)["textures"] for each in used)
    return absent


def format_json(one: FileFormat) -> Json:
    """Return the entry for the format in the result of ``exchange__formats``."""
    entry: Json = {"format": one.name, "import": [*one.reads], "export": [*one.writes]}
    if one.reads or one.writes:
        entry |= {"meters_per_unit": one.meters_per_unit, "up_axis": one.up_axis}
        entry["says_units"] = one.name not in UNSTATED
    if one.fixed:
        entry["fixed_units"] = True
    return {**entry, "missing": one.missing} if one.missing else entry
