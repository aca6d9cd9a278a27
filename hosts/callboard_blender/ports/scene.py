"""The ``scene.read`` port: reading the scene."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from callboard.host import Json
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.names import (
    SHOW_SCENE,
    Listed,
    children,
    count,
    covers,
    find,
    in_scene,
    listed,
    paths,
    scene,
    settle,
    tree,
    view_layer,
)
from callboard_blender.parts.data_blocks import full_names
from callboard_blender.parts.details import details
from callboard_blender.parts.object_color import read_color
from callboard_blender.parts.shapes import kind_of
from callboard_blender.parts.shown_mesh import shown_faces
from callboard_blender.parts.transforms import read
from callboard_blender.parts.whole_object import whole
from callboard_blender.parts.world import bounds, doubt


class BlenderSceneReader:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def info(self) -> Json:
        shown = scene()
        others = [each.name_full for each in bpy.data.scenes if each != shown]
        return {
            "file": bpy.data.filepath or None,
            "modified": self._changes.modified,
            "units_per_meter": 1 / shown.unit_settings.scale_length,
            "up_axis": "Z",
            "frame_range": [float(shown.frame_start), float(shown.frame_end)],
            "fps": shown.render.fps / shown.render.fps_base,
            "object_count": count(),
            "selection": self.selection(),
            "scene": shown.name,
            "active": active.name_full if (active := view_layer().objects.active) else None,
            "mode": active.mode.lower() if active else "object",
            "camera": shown.camera.name_full if shown.camera else None,
            **({"other_scenes": others, "to_show_another": SHOW_SCENE} if others else {}),
        }

    def covers(self) -> str | None:
        return covers()

    def names(self) -> list[str]:
        return paths()

    def get(self, name: str) -> Json:
        settle(find(name, new=True))
        obj = find(name, new=True)
        translate, rotate, scale = read(obj)
        return {
            **_summary(obj),
            "children": [child.name_full for child in children(obj) if in_scene(child)],
            "translate": translate,
            "rotate": rotate,
            "scale": scale,
            "visible": bool(obj.visible_get(view_layer=view_layer())),
            "color": read_color(obj),
            "bounds": bounds(tree(obj)),
            **doubt(obj),
        }

    def called(self, name: str) -> list[str]:
        return full_names(name)

    def details(self, name: str) -> Json:
        return details(find(name))

    def whole(self, name: str, users: bool = False) -> Json:
        return whole(find(name), users=users)

    def shown_faces(self, name: str) -> int | None:
        return shown_faces(find(name))

    def summaries(self) -> _Summaries:
        return _Summaries(listed())

    def selection(self) -> list[str]:
        """Return the selection with the active object last. Blender does not remember the order of
        the other objects."""
        layer = view_layer()
        chosen = list(layer.objects.selected)
        chosen.sort(key=lambda obj: obj == layer.objects.active)
        return [obj.name_full for obj in chosen]


class _Summaries:
    """The objects' entries, each made when it is accessed. If the object has been removed by then,
    its entry has only the name.

    This isn't a ``Sequence``, because that class would keep a reference to this one, and so to this
    module. A process that keeps a reference to Blender's module doesn't end.
    """

    def __init__(self, listed: Listed) -> None:
        self._listed = listed
        #: Read the names now, because an object that is removed later can no longer be read.
        self._paths = [*listed.paths]

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[Json]:
        return iter(self[:])

    def __getitem__(self, part: slice) -> list[Json]:
        now = listed()
        if self._listed is now:
            return [_summary(obj) for obj in now.objects[part]]
        reported = [(path, now.paths.get(path)) for path in self._paths[part]]
        return [_gone(path) if obj is None else _summary(obj) for path, obj in reported]


def _gone(path: str) -> Json:
    return {"name": path, "path": path, "type": "object", "parent": None}


def _summary(obj: bpy.types.Object) -> Json:
    return {
        "name": obj.name,
        "path": obj.name_full,
        "type": kind_of(obj),
        "parent": obj.parent.name_full if obj.parent else None,
    }
