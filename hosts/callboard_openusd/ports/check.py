"""The ``check`` port: the facts needed to check the stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdUtils

from callboard.errors import HostError
from callboard.host import Fault, Json, MaterialsPort, MeshData, UsedFile
from callboard_openusd.application.document import Document
from callboard_openusd.parts.transforms import TIME
from callboard_openusd.ports.usd import open_file

_PICTURES = {".png", ".jpg", ".jpeg", ".exr", ".hdr", ".tif", ".tiff", ".tx", ".tga", ".webp"}


class UsdChecks:
    def __init__(self, document: Document, materials: MaterialsPort) -> None:
        self._document = document
        self._materials = materials

    def fix(self, rule: str, path: str) -> Json | None:
        """Return the call that fixes the fault, or None if the fix needs another application's
        modeling tools."""
        prim = self._document.stage.GetPrimAtPath(path)
        if rule == "inside_out" and prim and prim.IsA(UsdGeom.Mesh):
            return {"tool": "geometry__normals", "arguments": {"name": path}}
        return None

    def meshes(self) -> list[str]:
        """Return the meshes, and also spheres and other shapes without faces, because these have
        positions, too."""
        stage = self._document.stage
        paths = self._document.names.paths
        return [str(path) for path in paths if stage.GetPrimAtPath(path).IsA(UsdGeom.Gprim)]

    def face_count(self, path: str) -> int:
        mesh = UsdGeom.Mesh(self._document.names.find(path))
        return len(mesh.GetFaceVertexCountsAttr().Get(TIME) or ()) if mesh else 0

    def mesh(self, path: str) -> MeshData:
        mesh = UsdGeom.Mesh(self._document.names.find(path))
        if not mesh:
            return MeshData([], [], [], None)
        points = [tuple(each) for each in mesh.GetPointsAttr().Get(TIME) or ()]
        counts = list(mesh.GetFaceVertexCountsAttr().Get(TIME) or ())
        corners = list(mesh.GetFaceVertexIndicesAttr().Get(TIME) or ())
        fit = sum(counts) == len(corners) and all(0 <= n < len(points) for n in corners)
        if not fit or any(count < 0 for count in counts):
            raise HostError(f"'{path}' is broken: its faces don't match its points")
        uvs = _uvs(mesh, corners)
        if mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded:
            order = [at for face in _spans(counts) for at in reversed(face)]
            corners = [corners[at] for at in order]
            uvs = [uvs[at] for at in order] if uvs is not None else None
        return MeshData(points, counts, corners, uvs)

    def shared(self, path: str) -> str:
        return path

    def files(self) -> Iterator[UsedFile]:
        for prim in self._document.stage.Traverse():
            for attribute in prim.GetAttributes():
                value = attribute.Get(TIME) if attribute.GetTypeName() == _ASSET else None
                if value is not None and value.path:
                    # ``<UDIM>`` is a placeholder for the numbers of several files.
                    there = bool(value.resolvedPath) or "<UDIM>" in value.path
                    space = _color_space(prim, value.path)
                    yield UsedFile(value.path, str(prim.GetPath()), not there, space)
        root = self._document.stage.GetRootLayer()
        for path in root.GetCompositionAssetDependencies():
            if path and not Sdf.Layer.FindOrOpenRelativeToLayer(root, path):
                yield UsedFile(path, "", missing=True)

    def materials_of(self, name: str) -> list[str]:
        return list(self._materials.assigned(name))

    def seen(self, camera: str | None, points: Sequence[Sequence[float]]) -> float:
        through = UsdGeom.Camera(self._camera(camera)).GetCamera(TIME).frustum
        inside: int = sum(through.Intersects(Gf.Vec3d(*point)) for point in points)
        return inside / max(1, len(points))

    def _camera(self, name: str | None) -> Usd.Prim:
        if name is not None:
            prim = self._document.names.find(name)
            if not prim.IsA(UsdGeom.Camera):
                raise HostError(f"'{prim.GetName()}' is not a camera")
            return prim
        for path in self._document.names.paths:
            prim = self._document.stage.GetPrimAtPath(path)
            if prim.IsA(UsdGeom.Camera):
                return prim
        raise HostError("the scene has no camera; make one with cameras__create")

    def validate(self, path: str | None) -> Iterable[Fault]:
        try:
            from pxr import UsdValidation
        except ImportError:  # This is for OpenUSD before 24.11.
            return [] if path is None else _complaints(path)
        stage = self._document.stage if path is None else open_file(path)
        registry = UsdValidation.ValidationRegistry()
        context = UsdValidation.ValidationContext(registry.GetOrLoadAllValidators())
        return [_finding(error) for error in context.Validate(stage)]


_ASSET = Sdf.ValueTypeNames.Asset


def _spans(counts: Sequence[int]) -> Iterator[range]:
    at = 0
    for count in counts:
        yield range(at, at + count)
        at += count


def _uvs(mesh: UsdGeom.Mesh, corners: Sequence[int]) -> list[Any] | None:
    """Return the UVs of the primvar with the name that textures expect, or else of the first
    suitable primvar."""
    candidates = [
        each
        for each in UsdGeom.PrimvarsAPI(mesh).GetPrimvarsWithValues()
        if each.GetTypeName().scalarType in (_TEXTURE, Sdf.ValueTypeNames.Float2)
    ]
    candidates.sort(key=lambda each: each.GetPrimvarName() != "st")
    for primvar in candidates:
        values = [tuple(value) for value in primvar.ComputeFlattened(TIME) or ()]
        if primvar.GetInterpolation() in (UsdGeom.Tokens.vertex, UsdGeom.Tokens.varying):
            if corners and max(corners) < len(values):
                return [values[at] for at in corners]
        elif len(values) == len(corners):
            return values
    return None


_TEXTURE = Sdf.ValueTypeNames.TexCoord2f


def _color_space(prim: Usd.Prim, path: str) -> str | None:
    if Path(path).suffix.lower() not in _PICTURES:
        return None
    shader = UsdShade.Shader(prim)
    if not shader or shader.GetIdAttr().Get() != "UsdUVTexture":
        return "auto"
    return str(((space := shader.GetInput("sourceColorSpace")) and space.Get()) or "")


def _finding(error: Any) -> Fault:
    kind = str(error.GetType()).rsplit(".", 1)[-1]
    prims = [site.GetPrim() for site in error.GetSites() if site.GetPrim()]
    place = str(prims[0].GetPath()) if prims and not prims[0].IsPseudoRoot() else ""
    rule = f"validators:{error.GetName()}"
    return Fault(rule, place, error.GetMessage(), "error" if kind == "Error" else "warning")


def _complaints(path: str) -> list[Fault]:
    """Return the findings of usdchecker, which UsdValidation replaced."""
    checker = UsdUtils.ComplianceChecker()
    open_file(path)
    checker.CheckCompliance(path)
    failed = [*checker.GetErrors(), *checker.GetFailedChecks()]
    return [
        *(Fault("validators", "", why, "error") for why in failed),
        *(Fault("validators", "", why) for why in checker.GetWarnings()),
    ]
