"""The port ``check``: facts for checks of the scene. Meshes are as modelled, before their
modifiers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import bpy
from bpy_extras.object_utils import (  # type: ignore[import-not-found,unused-ignore]
    world_to_camera_view,
)
from mathutils import Vector

from callboard.errors import HostError
from callboard.host import Fault, Json, MaterialsPort, MeshData, UsedFile, no_validators
from callboard_blender.application.names import find, objects, scene

#: Tools that fix faults, with their arguments besides the object's name.
_TOOLS: dict[str, tuple[str, Json]] = {
    "inside_out": ("geometry__normals", {}),
    "zero_faces": ("geometry__clean", {"fault": "zero_faces"}),
    "ngons": ("geometry__clean", {"fault": "ngons"}),
    "scale": ("geometry__apply_scale", {}),
    "uvs_missing": ("geometry__unwrap", {}),
    "uvs_overlap": ("geometry__unwrap", {"replace": True}),
}


class BlenderChecks:
    def __init__(self, materials: MaterialsPort) -> None:
        self._materials = materials

    def fix(self, rule: str, path: str) -> Json | None:
        if find(path).library is not None or rule not in _TOOLS:
            return None
        tool, arguments = _TOOLS[rule]
        return {"tool": tool, "arguments": {"name": path, **arguments}}

    def meshes(self) -> list[str]:
        return [obj.name_full for obj in objects() if obj.type == "MESH"]

    def face_count(self, path: str) -> int:
        return len(find(path).data.polygons)

    def mesh(self, path: str) -> MeshData:
        mesh = find(path).data
        points = _read(mesh.vertices, "co", "f", 3)
        counts = _read(mesh.polygons, "loop_total", "i")
        corners = _read(mesh.loops, "vertex_index", "i")
        layer = mesh.uv_layers.active
        uvs = _read(layer.data, "uv", "f", 2) if layer is not None and len(layer.data) else None
        return MeshData(_in(points, 3), counts, corners, _in(uvs, 2) if uvs is not None else None)

    def shared(self, path: str) -> str:
        return str(find(path).data.name_full)

    def files(self) -> Iterator[UsedFile]:
        users = _Users()
        for image in bpy.data.images:
            if image.source in ("FILE", "SEQUENCE", "MOVIE") and image.filepath:
                space = image.colorspace_settings.name
                yield _file(image, None if image.packed_file else space, users)
        for kind in ("libraries", "sounds", "fonts", "cache_files", "volumes", "movieclips"):
            for each in getattr(bpy.data, kind):
                if each.filepath and not each.filepath.startswith("<"):
                    yield _file(each, None, users)

    def materials_of(self, name: str) -> list[str]:
        return list(self._materials.assigned(name))

    def seen(self, camera: str | None, points: Sequence[Sequence[float]]) -> float:
        through = find(camera) if camera is not None else scene().camera
        if through is None or through.type != "CAMERA":
            raise HostError(
                "the scene has no camera; make one with cameras__create"
                if through is None
                else f"'{through.name}' is not a camera"
            )
        places = [world_to_camera_view(scene(), through, Vector(point)) for point in points]
        inside: int = sum(0 <= x <= 1 and 0 <= y <= 1 and z > 0 for x, y, z in places)
        return inside / max(1, len(places))

    def validate(self, path: str | None) -> Iterable[Fault]:
        if path is None:
            return []
        raise no_validators()


def _read(items: Any, name: str, code: str, width: int = 1) -> array[Any]:
    values = array(code, bytes(4 * width * len(items)))
    items.foreach_get(name, values)
    return values


def _in(values: array[Any], width: int) -> list[Any]:
    return list(zip(*(values[n::width] for n in range(width)), strict=True))


class _Users:
    """The users of each datablock, read from Blender once and only when needed."""

    def __init__(self) -> None:
        self._of: dict[bpy.types.ID, set[bpy.types.ID]] | None = None

    def in_a_scene(self, named: bpy.types.ID) -> bool:
        if isinstance(named, bpy.types.Library):
            return True  # Data linked from a library isn't listed as its user.
        if self._of is None:
            self._of = bpy.data.user_map()
        known, walk = {named}, [named]
        for each in walk:
            if isinstance(each, bpy.types.Scene):
                return True
            new = self._of.get(each, set()) - known
            known |= new
            walk += new
        return False


def _file(named: Any, color_space: str | None, users: _Users) -> UsedFile:
    packed = getattr(named, "packed_file", None) is not None
    path = bpy.path.abspath(named.filepath, library=named.library)
    several = "<UDIM>" in path or getattr(named, "source", "") == "SEQUENCE"
    missing = not (packed or several or Path(path).exists())
    used = not missing or users.in_a_scene(named)
    return UsedFile(named.filepath, named.name, missing, color_space, used)
