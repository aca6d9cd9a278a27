"""The ``check`` port: the facts that checks of the scene need. Meshes are reported as they were
modeled, without their modifiers."""

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
from callboard_blender.application.linked_data import refuse_linked
from callboard_blender.application.names import find, in_scene, objects, scene
from callboard_blender.parts import transforms
from callboard_blender.parts.object_faults import ObjectFaults
from callboard_blender.parts.world import doubt

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
        self._faults = ObjectFaults()

    def fix(self, rule: str, path: str) -> Json | None:
        if rule == "absolute_paths":
            # A path can only be relative to a file that has been saved.
            wanted = {"tool": "blender_data__set_file", "arguments": {"path": path}}
            return wanted if bpy.data.filepath else None
        if find(path).library is not None or rule not in _TOOLS:
            return None
        if rule == "scale" and (find(path).data.users > 1 or not self.settable(path, "scale")):
            return None  # Applying the scale of a shared mesh would give the object its own mesh.
        tool, arguments = _TOOLS[rule]
        return {"tool": tool, "arguments": {"name": path, **arguments}}

    def settable(self, path: str, component: str) -> bool:
        obj = find(path)
        channel = transforms.WORDS[component]
        try:
            refuse_linked(obj)
            transforms.refuse_animated(obj, [channel])
        except HostError:
            return False
        locked = any(getattr(obj, f"lock_{channel}"))
        return not locked and component not in doubt(obj).get("doubtful", ())

    def surfaces(self) -> list[str]:
        return [obj.name_full for obj in objects() if _has_surface(obj)]

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
            if image.source in ("FILE", "SEQUENCE", "MOVIE", "TILED") and image.filepath:
                space = image.colorspace_settings.name
                yield _file(image, None if image.packed_file else space, users)
            elif image.source == "GENERATED" and image.filepath:
                # Blender reads nothing from this path, but the saved file would contain the path.
                objects = users.objects_of(image)
                absolute = not image.filepath.startswith("//")
                yield UsedFile(
                    image.filepath, image.name, False, absolute=absolute, objects=objects
                )
        for kind in ("libraries", "sounds", "fonts", "cache_files", "volumes", "movieclips"):
            for each in getattr(bpy.data, kind):
                if each.filepath and not each.filepath.startswith("<"):
                    yield _file(each, None, users)

    def object_faults(self, path: str) -> Iterator[Fault]:
        return self._faults.of(find(path))

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


def _has_surface(obj: bpy.types.Object) -> bool:
    """Return whether renders show a surface of the object that needs a material."""
    shape = obj.data
    if obj.type == "CURVE":
        filled = shape.dimensions == "2D" and shape.fill_mode != "NONE"
        beveled = shape.bevel_depth or shape.extrude or shape.bevel_object
        return bool(filled or beveled)
    if obj.type == "META":
        # The metaball without a number gives its material to the numbered ones.
        first = bpy.data.objects.get((obj.name.rpartition(".")[0], None))
        return first is None or first.type != "META"
    return obj.type in ("MESH", "SURFACE", "FONT")


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
            return True  # Data linked from a library isn't listed as the library's user.
        return any(isinstance(each, bpy.types.Scene) for each in self._above(named))

    def objects_of(self, named: bpy.types.ID) -> list[str]:
        """Return the paths of the scene's objects that use the datablock, including through their
        materials or node groups."""
        if isinstance(named, bpy.types.Library):
            using = named.users_id
        else:
            using = self._above(named, bpy.types.Object)
        objects = (each for each in using if isinstance(each, bpy.types.Object) and in_scene(each))
        return sorted(each.name_full for each in objects)

    def _above(
        self, named: bpy.types.ID, last: tuple[type, ...] | type = ()
    ) -> Iterator[bpy.types.ID]:
        """Yield the datablock, its users, their users and so on, but not the users of a datablock
        whose type is one of ``last``."""
        if self._of is None:
            self._of = bpy.data.user_map()
        known, walk = {named}, [named]
        for each in walk:
            yield each
            new = set() if isinstance(each, last) else self._of.get(each, set()) - known
            known |= new
            walk += new


def _file(named: Any, color_space: str | None, users: _Users) -> UsedFile:
    packed = getattr(named, "packed_file", None) is not None
    path = bpy.path.abspath(named.filepath, library=named.library)
    several = "<UDIM>" in path or getattr(named, "source", "") == "SEQUENCE"
    missing = not (packed or several or Path(path).exists())
    used = not missing or users.in_a_scene(named)
    absolute = not packed and named.library is None and not named.filepath.startswith("//")
    objects = users.objects_of(named) if absolute or missing else ()
    return UsedFile(named.filepath, named.name, missing, color_space, used, absolute, objects)
