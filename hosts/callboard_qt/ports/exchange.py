"""The common parts of the ``exchange`` port in applications that read and write other programs'
files with commands and plug-ins. Use them on the main thread. They raise HostError when a
file can't be read or written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from callboard.errors import HostError
from callboard.host import (
    SUFFIXES,
    USD_READ_SUFFIXES,
    USD_WRITE_SUFFIXES,
    Axes,
    FileFormat,
    MaterialsPort,
    UpAxis,
    UsdPort,
    fbx_axes,
    held_to_roots,
    is_such,
    kind_of,
    lacking_uvs,
    of_many,
    put_in_place,
    refuse_outside,
)
from callboard_qt.ports.check import ApplicationChecks


class ApplicationExchange(ABC):
    """Implements the port. ``usd`` returns the host's current port for USD, or None. ``no_usd``
    then explains why there is none and what to do."""

    application: str
    no_usd: str

    def __init__(
        self,
        reader: object,
        checks: ApplicationChecks,
        materials: MaterialsPort,
        usd: Callable[[], object | None],
    ) -> None:
        #: The ``scene.read`` port.
        self._reader: Any = reader
        self._checks = checks
        self._materials = materials
        self._usd = cast(Callable[[], UsdPort | None], usd)

    @abstractmethod
    def _format(self, name: str, suffixes: tuple[str, ...]) -> FileFormat:
        """Return a non-USD format, and the operations that the application currently supports for
        it."""

    @abstractmethod
    def _read(self, path: str, kind: str, axes: Axes | None, parent: str | None) -> None:
        """Add the file to the scene, converted from the file's units and axes. ``axes`` is given if
        the file doesn't state its own."""

    @abstractmethod
    def _write(
        self, file: Path, kind: str, objects: Sequence[str] | None, axes: Axes | None
    ) -> None:
        """Write that file, in an empty private folder. If ``objects`` isn't None, only these are
        selected, with everything below them."""

    @abstractmethod
    def _only(self, objects: Sequence[str] | None) -> AbstractContextManager[None]:
        """Select the objects inside the block, without counting this as a change. None leaves the
        selection alone."""

    def formats(self) -> list[FileFormat]:
        return [
            self._usd_format() if name == "usd" else self._format(name, suffixes)
            for name, suffixes in SUFFIXES.items()
        ]

    def import_file(self, path: str, parent: str | None, axes: Axes | None) -> Axes:
        kind = kind_of(path)
        if kind == "usd":
            port = self._usd_there()
            reported = port.stage_metadata(path)
            port.import_usd(path, parent)
            return Axes(reported["meters_per_unit"], reported["up_axis"])
        used = set(self._used()) if held_to_roots() else set()
        self._read(path, kind, axes, parent)
        if held_to_roots():
            new = (each for each in self._used() if each not in used)
            refuse_outside(new, Path(path).name, "imported")
        return self._counted(path, kind, axes)

    def export_file(
        self, path: str, objects: Sequence[str] | None, axes: Axes | None
    ) -> tuple[list[str], Axes]:
        kind = kind_of(path)
        if kind == "usd":
            with self._only(objects):
                self._usd_there().export_usd(path, objects is not None)
            return [path], self._scene_axes()
        if held_to_roots():
            # The exporter puts the files that the scene uses into the new file, or copies them into
            # its folder.
            refuse_outside(self._used(), "the scene", "exported")
        # In a private folder, no other program can create a link, and a failure leaves nothing
        # behind.
        with TemporaryDirectory(prefix="callboard-") as apart, self._only(objects):
            written = Path(apart, Path(path).name)
            self._write(written, kind, objects, axes)
            if not written.is_file() or not is_such(written):
                raise HostError(f"{self.application} didn't write a readable {kind} file")
            counted = self._counted(str(written), kind, axes)
            return put_in_place(written, path), counted

    def without_uvs(self, objects: Sequence[str] | None) -> Mapping[str, bool]:
        meshes = self._checks.meshes()
        if objects is not None:
            wanted = self._with_below(objects)
            meshes = [each for each in meshes if each in wanted]
        return lacking_uvs(meshes, self._checks, self._materials)

    def _usd_format(self) -> FileFormat:
        counted = self._scene_axes()
        there = self._usd() is not None
        reads, writes = (USD_READ_SUFFIXES, USD_WRITE_SUFFIXES) if there else ((), ())
        up = cast(UpAxis, counted.up_axis)
        missing = "" if there else self.no_usd
        return FileFormat("usd", reads, writes, counted.meters_per_unit, up, missing)

    def _usd_there(self) -> UsdPort:
        port = self._usd()
        if port is None:
            raise HostError(self.no_usd)
        return port

    def _scene_axes(self) -> Axes:
        info = self._reader.info()
        return Axes(1.0 / info["units_per_meter"], info["up_axis"])

    def _counted(self, path: str, kind: str, axes: Axes | None) -> Axes:
        if kind == "fbx":
            return fbx_axes(path)
        return Axes(1.0, "Y") if axes is None else axes

    def _used(self) -> list[str]:
        """Return the files that the scene names."""
        named = (each.path for each in self._checks.files())
        return [each for path in named for each in of_many(path, sequences=True)]

    def _with_below(self, names: Sequence[str]) -> set[str]:
        waiting, family = list(names), set[str]()
        while waiting:
            entry = self._reader.get(waiting.pop())
            if entry["path"] not in family:
                family.add(entry["path"])
                waiting += entry["children"]
        return family
