"""The fake host's scene, which implements the ports over a dict. Every method runs on the main
thread only."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.held_folder import require_folder
from callboard.host import AmbiguousName, ObjectNotFound, PrimitiveKind, Vector, nearest_names


@dataclass
class _Object:
    type: str
    dimensions: dict[str, float]
    translate: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    rotate: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    scale: list[float] = field(default_factory=lambda: [1.0, 1.0, 1.0])
    color: list[float] | None = None


class FakeScene:
    """SceneReader and SceneEditor in one. Objects are kept by full path, ``/group/ball``, in scene
    order. The scene has no world transforms: ``keep_world`` changes nothing."""

    def __init__(self, guard: Callable[[], None]) -> None:
        self._guard = guard
        self._objects: dict[str, _Object] = {}
        self._selection: list[str] = []
        self._file: str | None = None
        self._modified = False

    # -- SceneReader --------------------------------------------------------------------------

    def info(self) -> Json:
        self._guard()
        return {
            "file": self._file,
            "modified": self._modified,
            "units_per_meter": 100.0,
            "up_axis": "Y",
            "frame_range": [1, 24],
            "fps": 24.0,
            "object_count": len(self._objects),
            "selection": list(self._selection),
        }

    def names(self) -> list[str]:
        self._guard()
        return list(self._objects)

    def get(self, name: str) -> Json:
        path = self._find(name)
        shape = self._objects[path]
        corner = [h * s for h, s in zip(_half_size(shape), shape.scale, strict=True)]
        return {
            **self._summary(path),
            "children": [other for other in self._objects if _parent(other) == path],
            "translate": list(shape.translate),
            "rotate": list(shape.rotate),
            "scale": list(shape.scale),
            "visible": True,
            "color": None if shape.color is None else list(shape.color),
            "dimensions": dict(shape.dimensions),
            "bounds": {
                "min": [at - c for at, c in zip(shape.translate, corner, strict=True)],
                "max": [at + c for at, c in zip(shape.translate, corner, strict=True)],
            },
        }

    def summaries(self) -> Iterator[Json]:
        self._guard()
        return iter([self._summary(path) for path in self._objects])

    def selection(self) -> list[str]:
        self._guard()
        return list(self._selection)

    # -- SceneEditor ----------------------------------------------------------------------------

    def create(self, kind: PrimitiveKind, name: str | None, dimensions: Mapping[str, float]) -> str:
        self._guard()
        path = self._free(f"/{name or kind}")
        self._objects[path] = _Object(kind, dict(dimensions))
        self._modified = True
        return path

    def set_transform(
        self, name: str, translate: Vector | None, rotate: Vector | None, scale: Vector | None
    ) -> str:
        path = self._find(name)
        shape = self._objects[path]
        shape.translate = shape.translate if translate is None else [float(v) for v in translate]
        shape.rotate = shape.rotate if rotate is None else [float(v) for v in rotate]
        shape.scale = shape.scale if scale is None else [float(v) for v in scale]
        self._modified = True
        return path

    def set_parent(self, name: str, parent: str | None, keep_world: bool) -> str:
        path = self._find(name)
        above = "" if parent is None else self._find(parent)
        if (above + "/").startswith(path + "/"):
            raise HostError(f"{above} is {path} or below it; choose another parent")
        return self._move(path, f"{above}/{_leaf(path)}")

    def rename(self, name: str, new_name: str) -> str:
        path = self._find(name)
        wanted = f"{_parent(path) or ''}/{new_name}"
        if wanted in self._objects:
            raise HostError(f"{wanted} is taken; choose another name")
        return self._move(path, wanted)

    def delete(self, names: Sequence[str]) -> list[str]:
        roots = [self._find(name) for name in names]
        gone = [p for p in self._objects if any((p + "/").startswith(r + "/") for r in roots)]
        for path in gone:
            del self._objects[path]
        self._selection = [path for path in self._selection if path in self._objects]
        self._modified = True
        return gone

    def duplicate(self, name: str, new_name: str | None) -> str:
        path = self._find(name)
        target = self._free(f"{_parent(path) or ''}/{new_name or _leaf(path)}")
        for source, shape in list(self._objects.items()):
            if (source + "/").startswith(path + "/"):
                self._objects[target + source[len(path) :]] = copy.deepcopy(shape)
        self._modified = True
        return target

    def select(self, names: Sequence[str]) -> list[str]:
        self._selection = [self._find(name) for name in names]
        return list(self._selection)

    def set_color(self, name: str, color: Vector) -> str:
        path = self._find(name)
        self._objects[path].color = [float(value) for value in color]
        self._modified = True
        return path

    # -- files and undo -------------------------------------------------------------------------

    def snapshot(self) -> Json:
        """Return the whole state as an independent value."""
        self._guard()
        return {
            "objects": copy.deepcopy(self._objects),
            "selection": list(self._selection),
            "modified": self._modified,
        }

    def restore(self, state: Json) -> None:
        """Restore a state that :meth:`snapshot` returned."""
        self._guard()
        self._objects = copy.deepcopy(state["objects"])
        self._selection = list(state["selection"])
        self._modified = state["modified"]

    def load(self, file: str | None, objects: Mapping[str, str]) -> None:
        """Replace the scene with objects of the given types."""
        self._guard()
        self._objects = {path: _Object(kind, {}) for path, kind in objects.items()}
        self._selection = []
        self._file, self._modified = file, False

    def saved(self, file: str) -> None:
        self._guard()
        self._file, self._modified = file, False

    # -- internals ------------------------------------------------------------------------------

    def _summary(self, path: str) -> Json:
        shape = self._objects[path]
        return {"name": _leaf(path), "path": path, "type": shape.type, "parent": _parent(path)}

    def _find(self, name: str) -> str:
        self._guard()
        if name in self._objects:
            return name
        matches = [path for path in self._objects if _leaf(path) == name]
        if len(matches) > 1:
            raise AmbiguousName(name, matches)
        if not matches:
            raise ObjectNotFound(name, nearest_names(name, map(_leaf, self._objects)))
        return matches[0]

    def _free(self, path: str) -> str:
        number, free = 1, path
        while free in self._objects:
            free = f"{path}{number}"
            number += 1
        return free

    def _move(self, path: str, wanted: str) -> str:
        target = path if wanted == path else self._free(wanted)
        inside = path + "/"
        self._objects = {
            target + known[len(path) :] if (known + "/").startswith(inside) else known: shape
            for known, shape in self._objects.items()
        }
        self._selection = [
            target + known[len(path) :] if (known + "/").startswith(inside) else known
            for known in self._selection
        ]
        self._modified = True
        return target


class FakeFiles:
    """SceneFiles whose files hold a JSON object that maps paths to types."""

    suffixes = (".json",)

    def __init__(self, scene: FakeScene) -> None:
        self._scene = scene

    def open(self, path: str) -> Json:
        objects = _read(path)
        self._scene.load(path, objects)
        return {"path": path, "object_count": len(objects)}

    def save(self, path: str | None) -> Json:
        target = path or self._scene.info()["file"]
        if target is None:
            raise HostError("the scene has never been saved; give a path")
        written = _write(self._scene, target)
        self._scene.saved(target)
        return {"path": target, "bytes": written}


class FakeUsd:
    """UsdPort over the same files, which don't really contain USD."""

    def __init__(self, scene: FakeScene) -> None:
        self._scene = scene

    def import_usd(self, path: str, parent: str | None) -> Json:
        created = []
        for name, kind in _read(path).items():
            made = self._scene.create(kind, _leaf(name), {})
            created.append(self._scene.set_parent(made, parent, False) if parent else made)
        return {"path": path, "created": created}

    def export_usd(self, path: str, selected_only: bool) -> Json:
        chosen = self._scene.selection() if selected_only else self._scene.names()
        return {"path": path, "bytes": _write(self._scene, path, chosen), "prims": len(chosen)}

    def stage_metadata(self, path: str) -> Json:
        prims = len(_read(path))
        return {
            "path": path,
            "default_prim": None,
            "up_axis": "Y",
            "meters_per_unit": 0.01,
            "start_frame": 1.0,
            "end_frame": 24.0,
            "fps": 24.0,
            "prims": prims,
            "layers": [path],
        }


def _write(scene: FakeScene, path: str, chosen: Sequence[str] | None = None) -> int:
    objects = {s["path"]: s["type"] for s in scene.summaries()}
    saved = objects if chosen is None else {name: objects[name] for name in chosen}
    require_folder(Path(path))
    try:
        return Path(path).write_text(json.dumps(saved), encoding="utf-8")
    except OSError as error:
        raise HostError(f"can't write there: {error.strerror}") from None


def _read(path: str) -> dict[str, Any]:
    try:
        objects = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise HostError(f"can't read the file: {error.strerror}") from None
    except ValueError:
        objects = None
    if not isinstance(objects, dict):
        raise HostError("the file doesn't hold a fake host's scene")
    return objects


def _half_size(shape: _Object) -> tuple[float, float, float]:
    """Return half the extents along X, Y (up) and Z."""
    given = shape.dimensions.get
    radius = given("radius", 1.0)
    if shape.type == "cube":
        half = given("size", 2.0) / 2
        return half, half, half
    if shape.type == "plane":
        return given("width", 2.0) / 2, 0.0, given("depth", 2.0) / 2
    if shape.type in ("cylinder", "cone"):
        return radius, given("height", 2.0) / 2, radius
    if shape.type == "torus":
        ring, tube = given("major_radius", 1.0), given("minor_radius", 0.25)
        return ring + tube, tube, ring + tube
    return radius, radius, radius


def _leaf(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _parent(path: str) -> str | None:
    return path.rsplit("/", 1)[0] or None
