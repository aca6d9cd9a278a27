"""The ``exchange`` port: exchanging files with other programs. This host reads and writes USD
files. Formats that plug-ins could add to its OpenUSD aren't offered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from pxr import Sdf, Usd, UsdGeom

from callboard.host import (
    SUFFIXES,
    USD_WRITE_SUFFIXES,
    Axes,
    CheckPort,
    FileFormat,
    MaterialsPort,
    UpAxis,
    lacking_uvs,
)
from callboard_openusd.application.document import Document
from callboard_openusd.application.layout import objects_in
from callboard_openusd.ports.usd import UsdStages

_ELSEWHERE = (
    "OpenUSD's package for Python reads and writes USD files only; use `callboard serve --host"
    " blender`, or exchange the scene with another application as USD"
)


class UsdExchange:
    def __init__(
        self, document: Document, stages: UsdStages, checks: CheckPort, materials: MaterialsPort
    ) -> None:
        self._document = document
        self._stages = stages
        self._checks = checks
        self._materials = materials

    def formats(self) -> list[FileFormat]:
        counted = self._axes()
        offered = []
        for name, suffixes in SUFFIXES.items():
            if name != "usd":
                offered.append(FileFormat(name, (), (), missing=_ELSEWHERE))
                continue
            known = {each: Sdf.FileFormat.FindByExtension(each[1:]) for each in suffixes}
            reads = tuple(each for each, one in known.items() if one and one.SupportsReading())
            writes = tuple(
                each
                for each, one in known.items()
                if one and each in USD_WRITE_SUFFIXES and one.SupportsWriting()
            )
            up = cast(UpAxis, counted.up_axis)
            offered.append(FileFormat(name, reads, writes, counted.meters_per_unit, up))
        return offered

    def import_file(self, path: str, parent: str | None, axes: Axes | None) -> Axes:
        reported = self._stages.stage_metadata(path)
        self._stages.import_usd(path, parent)
        return Axes(reported["meters_per_unit"], reported["up_axis"])

    def export_file(
        self, path: str, objects: Sequence[str] | None, axes: Axes | None
    ) -> tuple[list[str], Axes]:
        opened = self._document.opened
        selection = opened.selection
        try:
            if objects is not None:
                prims = (self._document.names.find(name) for name in objects)
                opened.selection = [str(prim.GetPath()) for prim in prims]
            self._stages.export_usd(path, objects is not None)
        finally:
            opened.selection = selection
        return [path], self._axes()

    def without_uvs(self, objects: Sequence[str] | None) -> Mapping[str, bool]:
        paths = (str(prim.GetPath()) for prim in self._meshes(objects))
        return lacking_uvs(paths, self._checks, self._materials)

    def _meshes(self, names: Sequence[str] | None) -> Iterator[Usd.Prim]:
        """Yield each mesh of the whole stage, or of these objects, once."""
        tops = [self._document.stage.GetPseudoRoot()]
        if names is not None:
            tops = [self._document.names.find(name) for name in names]
        by_path = {prim.GetPath(): prim for top in tops for prim in objects_in(top)}
        return (prim for prim in by_path.values() if prim.IsA(UsdGeom.Mesh))

    def _axes(self) -> Axes:
        stage = self._document.stage
        unit = float(UsdGeom.GetStageMetersPerUnit(stage))
        return Axes(unit, str(UsdGeom.GetStageUpAxis(stage)))
