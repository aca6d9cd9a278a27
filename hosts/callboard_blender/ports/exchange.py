"""The ``exchange`` port: exchanging files with other programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bpy

from callboard.errors import HostError
from callboard.host import (
    SUFFIXES,
    USD_READ_SUFFIXES,
    USD_WRITE_SUFFIXES,
    Axes,
    FileFormat,
    UpAxis,
    fbx_axes,
    gltf_bytes,
    gltf_parts,
    held_to_roots,
    is_such,
    kind_of,
    put_in_place,
    refuse_outside,
)
from callboard_blender.application import modes
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.names import find, forget, objects, scene, tree, view_layer
from callboard_blender.application.outside_paths import refuse_used_outside
from callboard_blender.parts.bake import frame_kept
from callboard_blender.parts.exchange_options import (
    Operator,
    export_options,
    import_options,
    missing,
    reader_of,
    writer_of,
)
from callboard_blender.ports.usd import BlenderUsd, moves, refuse_empty_curves, run

_NO_USD = (
    "this Blender has no OpenUSD Python modules, which check its files; use Blender 4.5 or later"
)

#: The values that choose the action to play, in the order in which they can be set.
_ACTION = ("action", "action_slot", "last_slot_identifier")
_PLACE = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


class BlenderExchange:
    def __init__(self, changes: SceneChanges, usd: BlenderUsd | None) -> None:
        self._changes = changes
        self._usd = usd

    def formats(self) -> list[FileFormat]:
        return [self._format(name, suffixes) for name, suffixes in SUFFIXES.items()]

    def _format(self, name: str, suffixes: tuple[str, ...]) -> FileFormat:
        if name == "usd":
            unit = float(scene().unit_settings.scale_length)
            if self._usd is None:
                return FileFormat(name, (), (), unit, "Z", _NO_USD)
            return FileFormat(name, USD_READ_SUFFIXES, USD_WRITE_SUFFIXES, unit, "Z")
        reads = suffixes if reader_of(name) else ()
        writes = suffixes if writer_of(name) else ()
        unit = 0.01 if name == "fbx" else 1.0
        up: UpAxis = "Z" if name in ("stl", "ply") else "Y"
        return FileFormat(name, reads, writes, unit, up, "" if reads and writes else missing(name))

    def import_file(self, path: str, parent: str | None, axes: Axes | None) -> Axes:
        kind = kind_of(path)
        if kind == "usd":
            assert self._usd is not None
            self._usd.import_usd(path, parent)
            reported = self._usd.stage_metadata(path)
            return Axes(reported["meters_per_unit"], reported["up_axis"])
        above = None if parent is None else find(parent).name_full
        before = {obj.name_full for obj in scene().objects}
        pictures = {image.name_full for image in bpy.data.images}
        operator = _there(reader_of(kind), path)
        self._changes.touch()
        with _timeline_kept():
            run(operator.call, path, "import", **import_options(operator, path, kind, axes))
        if held_to_roots():
            new = (each for each in bpy.data.images if each.name_full not in pictures)
            used = [bpy.path.abspath(each.filepath) for each in new if not each.packed_file]
            refuse_outside([each for each in used if each], Path(path).name, "imported")
        view_layer().update()
        forget()
        if above is not None:
            under = find(above)
            for obj in scene().objects:
                if obj.name_full not in before and obj.parent is None:
                    obj.parent = under
            view_layer().update()
            forget()
        if kind == "fbx":
            return fbx_axes(path)
        return axes if axes is not None else Axes(1.0, "Y")

    def export_file(
        self, path: str, objects: Sequence[str] | None, axes: Axes | None
    ) -> tuple[list[str], Axes]:
        kind = kind_of(path)
        unit = float(scene().unit_settings.scale_length)
        with self._only(objects), self._in_object_mode():
            if kind == "usd":
                assert self._usd is not None
                self._usd.export_usd(path, objects is not None)
                return [path], Axes(unit, "Z")
            # The exporter copies the used files into the exported file or its folder.
            refuse_used_outside("exported")
            if kind == "alembic":
                refuse_empty_curves(objects is not None, rendered_only=False)
            operator, moving = _there(writer_of(kind), path), moves()
            options = export_options(operator, kind, axes, objects is not None, moving)
            with (
                _motion_kept(),
                TemporaryDirectory(prefix="callboard-") as apart,
                frame_kept() if moving else _frame_restored(),
            ):
                # In a private folder, no other program can create a link, and a failure leaves
                # nothing behind.
                suffix = ".glb" if kind == "gltf" else Path(path).suffix.lower()
                written = Path(apart, f"{Path(path).stem}{suffix}")
                with _nodes_kept():
                    run(operator.call, path, "export", filepath=str(written), **options)
                if not written.is_file() or not is_such(written):
                    raise HostError(f"Blender didn't write a readable '{written.name}'")
                if kind == "gltf":
                    _finish_gltf(written, unit, Path(path).suffix.lower())
                files = put_in_place(written, path)
        if kind == "fbx":
            return files, fbx_axes(path)
        return files, axes if axes is not None else Axes(1.0, "Y")

    def without_uvs(self, objects: Sequence[str] | None) -> Mapping[str, bool]:
        return {
            obj.name_full: any(_has_picture(slot.material) for slot in obj.material_slots)
            for obj in _with_all_below(objects)
            if obj.type == "MESH" and len(obj.data.polygons) and not len(obj.data.uv_layers)
        }

    @contextmanager
    def _only(self, names: Sequence[str] | None) -> Iterator[None]:
        """Select these objects, and everything below them, inside the block."""
        if names is None:
            yield
            return
        layer, wanted = view_layer(), _with_all_below(names)
        for name in names:
            if not find(name).visible_get(view_layer=layer):
                raise HostError(f"'{name}' is hidden, so Blender can't export it; show it first")
        before, active = list(layer.objects.selected), layer.objects.active
        with self._changes.unnoticed():
            try:
                _select(before, wanted)
                yield
            finally:
                _select(list(layer.objects.selected), before)
                layer.objects.active = active
                layer.update()

    @contextmanager
    def _in_object_mode(self) -> Iterator[None]:
        """Apply the artist's edits, and leave the artist's mode inside the block. None of this is
        recorded as a change."""
        mode = modes.current()
        with self._changes.unnoticed():
            modes.leave()
            try:
                yield
            finally:
                modes.put_back(mode)
                view_layer().update()


def _there(operator: Operator | None, path: str) -> Operator:
    if operator is None:
        raise HostError(
            f"Blender can no longer read or write '{Path(path).name}'; see exchange__formats"
        )
    return operator


def _with_all_below(names: Sequence[str] | None) -> list[bpy.types.Object]:
    if names is None:
        return objects()
    return list(dict.fromkeys(obj for name in names for obj in tree(find(name))))


def _select(before: Sequence[bpy.types.Object], wanted: Sequence[bpy.types.Object]) -> None:
    layer = view_layer()
    for obj in before:
        obj.select_set(False, view_layer=layer)
    for obj in wanted:
        if obj.visible_get(view_layer=layer):
            obj.select_set(True, view_layer=layer)
    layer.update()


def _has_picture(material: Any) -> bool:
    waiting, seen = [material.node_tree if material is not None else None], set()
    while waiting:
        shader = waiting.pop()
        if shader is None or shader in seen:
            continue
        seen.add(shader)
        if any(node.type == "TEX_IMAGE" and node.image is not None for node in shader.nodes):
            return True
        waiting += [node.node_tree for node in shader.nodes if node.type == "GROUP"]
    return False


@contextmanager
def _nodes_kept() -> Iterator[None]:
    """After the block, remove the notes that Blender's glTF exporter leaves on the shader nodes
    that it exported."""
    before = set(_noted_nodes())
    yield
    for tree_name, name in set(_noted_nodes()) - before:
        del _node_trees()[tree_name].nodes[name]["used"]


@contextmanager
def _motion_kept() -> Iterator[None]:
    """When the block ends, restore the actions and then the poses. Blender's glTF exporter plays
    each action, which changes both."""
    kept = [
        (owner, name, _value(owner, name))
        for owner, names in _moved()
        for name in names
        if hasattr(owner, name)
    ]
    try:
        yield
    finally:
        for names in (_ACTION, (*_PLACE, "value")):
            for owner, name, value in kept:
                # Setting an action again plays it again.
                if name in names and _value(owner, name) != value:
                    setattr(owner, name, value)
            view_layer().update()


def _value(owner: Any, name: str) -> Any:
    value = getattr(owner, name)
    return tuple(value) if name in _PLACE else value


def _moved() -> Iterator[tuple[Any, Sequence[str]]]:
    """Yield the owners of values that playing an action changes, with the names of the values. The
    assigned action is one of these values."""
    for obj in objects():
        keys = obj.data.shape_keys if obj.type in ("MESH", "CURVE", "LATTICE") else None
        if obj.animation_data is not None:
            yield obj.animation_data, _ACTION
            yield obj, _PLACE
            yield from ((bone, _PLACE) for bone in (obj.pose.bones if obj.pose else ()))
        if keys is not None and keys.animation_data is not None:
            yield keys.animation_data, _ACTION
            yield from ((block, ("value",)) for block in keys.key_blocks)


def _noted_nodes() -> Iterator[tuple[str, str]]:
    for tree_name, each in _node_trees().items():
        yield from ((tree_name, node.name) for node in each.nodes if "used" in node)


def _node_trees() -> dict[str, Any]:
    groups = {f"group {each.name_full}": each for each in bpy.data.node_groups}
    return groups | {
        each.name_full: each.node_tree for each in bpy.data.materials if each.node_tree
    }


@contextmanager
def _frame_restored() -> Iterator[None]:
    """Go back to the current frame if an exporter left it, as Blender's glTF exporter does even
    when nothing moves. Otherwise stay, because going to a frame resets values that were changed
    without a key."""
    shown = scene()
    before = shown.frame_current, shown.frame_subframe
    try:
        yield
    finally:
        if (shown.frame_current, shown.frame_subframe) != before:
            shown.frame_set(before[0], subframe=before[1])


@contextmanager
def _timeline_kept() -> Iterator[None]:
    """Keep the artist's frame range and rate, whatever the file contains."""
    shown = scene()
    kept = {
        (owner, name): getattr(owner, name)
        for owner, names in (
            (shown, ("frame_start", "frame_end")),
            (shown.render, ("fps", "fps_base")),
        )
        for name in names
    }
    with frame_kept():
        yield
    for (owner, name), value in kept.items():
        setattr(owner, name, value)


def _finish_gltf(file: Path, unit: float, suffix: str) -> None:
    """Convert to glTF's meters, because Blender writes the scene's numbers unconverted. For the
    suffix ".gltf", also make the file a .gltf that needs no other file."""
    described, binary = gltf_parts(file.read_bytes(), file.name)
    if unit != 1.0:
        nodes = described.setdefault("nodes", [])
        for each in described.get("scenes", []):
            if each.get("nodes"):
                nodes.append({"name": "Units", "scale": [unit] * 3, "children": each["nodes"]})
                each["nodes"] = [len(nodes) - 1]
    file.write_bytes(gltf_bytes(described, binary, suffix))
