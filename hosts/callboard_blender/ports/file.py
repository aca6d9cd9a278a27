"""The ``file`` port: the contents of .blend files and the files they name. The open file is read
from Blender, and other files from their blocks."""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from heapq import nlargest
from pathlib import Path
from typing import Any, TypeVar

import bpy

from callboard.host import Json, NamedFile, of_many, outside, unreadable
from callboard_blender.application.blend_facts import BlendFacts
from callboard_blender.application.blend_named import is_own, place_of
from callboard_blender.application.names import SHOW_SCENE, count, listed, scene, view_layer
from callboard_blender.application.outside_paths import own_folders
from callboard_blender.parts.data_blocks import NAMING, collections
from callboard_blender.parts.image_links import connections
from callboard_blender.parts.pointers import named_by
from callboard_blender.ports.files import checked_blend

#: Types of datablocks that use files only through other datablocks. A file may have many of these.
_MANY = ("OBJECT", "MESH", "COLLECTION")
#: The type of scenes. A scene names all its objects, so its datablocks take a long time to list.
_SCENE = "SCENE"
#: Maximum number of objects that an overview names as the heaviest.
_MOST_HEAVY = 10
#: Number of datablocks read between two pauses.
_STRETCH = 200
#: Number of objects of the file listed at once.
_LISTED = 5000
#: Seconds that one slice of the main thread's work waits for the thread that reads a file on disk.
_WAIT = 0.004
#: The type of node trees that make geometry.
_GEOMETRY = "GeometryNodeTree"
#: The kind of what instances show, among what data needs, and how its collections are written.
_SHOWS, _COLLECTION = "shows", "collection: "
_Read = TypeVar("_Read")
_UNREADABLE = (OSError, ValueError, EOFError, struct.error, ImportError)


class BlenderFile:
    def overview(self, path: str | None) -> Generator[None, None, Json]:
        if path is None:
            return (yield from _of_session())
        checked_blend(path)
        facts = yield from _in_a_thread(path, lambda: BlendFacts(path))
        heaviest = nlargest(_MOST_HEAVY, facts.faces.items(), key=lambda pair: pair[1])
        return {
            "file": path,
            "version": _written_by(path),
            "scenes": facts.scenes,
            "workspaces": facts.workspaces,
            "counts": dict(sorted(facts.counts.items())),
            "linked": facts.linked,
            "types": dict(sorted(facts.types.items())),
            "kinds": _kinds(
                facts.counts,
                facts.types,
                assets=facts.assets,
                strips=facts.strips,
                composited=facts.composited,
                node_setups=facts.node_trees[_GEOMETRY],
            ),
            "heaviest": [{"name": name, "faces": faces} for name, faces in heaviest],
            "faces_counted": "before modifiers; once the file is open, geometry__info counts after",
        }

    def references(self, path: str | None) -> Generator[None, None, list[NamedFile]]:
        if path is None:
            return (yield from _named_in_session())
        checked_blend(path)
        own = own_folders()
        return (yield from _in_a_thread(path, lambda: _named_on_disk([(path, "")], own)))

    def autosaves(self) -> list[str]:
        folders = {str(Path(bpy.app.tempdir).parent)}
        folders.add(bpy.context.preferences.filepaths.temporary_directory)
        stem = Path(bpy.data.filepath).stem
        pattern = f"{stem}_*_autosave.blend" if stem else f"{os.getpid()}_autosave.blend"
        saved = (each for folder in folders if folder for each in Path(folder).glob(pattern))
        last = (Path(folder, "quit.blend") for folder in folders if folder)
        return [*map(str, saved), *(str(each) for each in last if each.is_file())]


def _in_a_thread(path: str, read: Callable[[], _Read]) -> Generator[None, None, _Read]:
    """Read the file in a separate thread, which doesn't use Blender. Raises HostError when it
    isn't a .blend file."""
    pool = ThreadPoolExecutor(1)
    try:
        reading = pool.submit(copy_context().run, read)
        while not wait([reading], _WAIT).done:
            yield
        return reading.result()
    except _UNREADABLE as error:
        raise unreadable(path, f"can't be read ({error})") from None
    finally:
        pool.shutdown(wait=False)


def _in_stretches(data: Any) -> Iterator[Any]:
    """Yield the datablocks in batches. Each batch is read from Blender when it is requested,
    because the scene may have changed since the previous batch."""
    at = 0
    while part := data[at : at + _STRETCH]:
        yield part
        at += _STRETCH


def _of_session() -> Generator[None, None, Json]:
    types: Counter[str] = Counter()
    faces: dict[str, int] = {}
    assets = linked = 0
    for part in _in_stretches_of_file():
        for obj in part:
            types[obj.type.lower()] += 1
            assets += obj.asset_data is not None
            linked += obj.library is not None
            if obj.type == "MESH" and obj.data is not None:
                faces[obj.name_full] = len(obj.data.polygons)
        yield
    counts = +Counter({"objects": types.total()})
    for name, data in collections():
        if name != "objects" and (length := len(data)):
            counts[name] = length
        yield
    for kind in ("materials", "node_groups", "collections", "actions", "worlds"):
        for part in _in_stretches(getattr(bpy.data, kind)):
            assets += sum(each.asset_data is not None for each in part)
            yield
    heaviest = nlargest(_MOST_HEAVY, faces.items(), key=lambda pair: pair[1])
    yield
    return {
        "file": bpy.data.filepath or None,
        "version": ".".join(map(str, bpy.data.version[:2])),
        "scenes": [_scene(each) for each in bpy.data.scenes],
        "shown": _shown(),
        "workspaces": [each.name for each in bpy.data.workspaces],
        "counts": dict(counts),
        "linked": linked,
        "types": dict(sorted(types.items())),
        "kinds": _kinds(
            counts,
            types,
            assets=assets,
            strips=sum(map(_strips, bpy.data.scenes)),
            node_setups=sum(each.bl_idname == _GEOMETRY for each in bpy.data.node_groups),
            composited=sum(map(_composites, bpy.data.scenes)),
        ),
        "heaviest": [{"name": name, "faces": count} for name, count in heaviest],
        "faces_counted": "before modifiers; geometry__info counts after them",
    }


def _kinds(counts: Counter[str], types: Counter[str], **others: int) -> dict[str, int]:
    kinds = {
        "meshes": types["mesh"],
        "cameras": types["camera"],
        "lights": types["light"],
        "rigs": types["armature"],
        "animations": counts["actions"],
        "materials": counts["materials"],
        "libraries": counts["libraries"],
        "drawings": types["gpencil"] + types["greasepencil"],
        "tracked": counts["movieclips"],
        "sounds": counts["sounds"],
        "scripts": counts["texts"],
        **others,
    }
    return {kind: count for kind, count in kinds.items() if count}


def _shown() -> Json:
    """Return the scene, view layer and workspace of the artist's window."""
    window = bpy.context.window
    workspace = {"workspace": window.workspace.name} if window is not None else {}
    several = {"to_show_another": SHOW_SCENE} if len(bpy.data.scenes) > 1 else {}
    return {"scene": scene().name, "view_layer": view_layer().name, **workspace, **several}


def _scene(each: bpy.types.Scene) -> Json:
    render, view = each.render, each.view_settings
    return {
        "name": each.name,
        "objects": count() if each == scene() else len(each.objects),
        "camera": each.camera.name_full if each.camera else None,
        "frame_range": [each.frame_start, each.frame_end],
        "fps": round(render.fps / render.fps_base, 3),
        "engine": render.engine,
        "resolution": [render.resolution_x, render.resolution_y, render.resolution_percentage],
        "units_per_meter": 1 / each.unit_settings.scale_length,
        "view_transform": view.view_transform,
        "look": view.look,
        "exposure": view.exposure,
        "display": each.display_settings.display_device,
        "view_layers": [layer.name for layer in each.view_layers],
        "strips": _strips(each),
    }


def _composites(each: Any) -> bool:
    if hasattr(each, "compositing_node_group"):  # This exists in 5.0 and later.
        tree = each.compositing_node_group
    else:
        tree = each.node_tree if each.use_nodes else None
    # Blender itself makes the first two nodes.
    return tree is not None and len(tree.nodes) > 2


def _strips(each: bpy.types.Scene) -> int:
    editor = each.sequence_editor
    if editor is None:
        return 0
    # Blender 4.4 renamed sequences to strips.
    return len(editor.strips_all if hasattr(editor, "strips_all") else editor.sequences_all)


def _written_by(path: str) -> str:
    """Return the version in the file's first bytes, or an empty string when the file is
    compressed."""
    with Path(path).open("rb") as file:
        head = file.read(17)
    digits = head[9:12] if head[7:9] == b"-v" else head[13:17]
    if not head.startswith(b"BLENDER") or not digits.isdigit():
        return ""
    return f"{int(digits) // 100}.{int(digits) % 100}"


def _named_in_session() -> Generator[None, None, list[NamedFile]]:
    named = [
        ((kind, each.name_full), each)
        for data, kind in _naming()
        for each in data
        if _has_a_path(each)
    ]
    linked_from = {
        _found_as(kind, each): (kind, name)
        for (kind, name), each in named
        if each.library is not None and kind != "library"
    }
    users, needing = yield from _users_of(named)
    images = any(kind == "image" for (kind, _), _ in named)
    linked = (yield from connections()) if images else {}
    reported = []
    for data, kind in _naming():
        for part in _in_stretches(data):
            for each in filter(_names_a_file, part):
                key = (kind, each.name_full)
                told = _reference(each, kind, users.get(key, ()), needing.get(key, ()))
                reported.append(_connected(told, linked) if kind == "image" else told)
            yield
    known, own = {each.place for each in reported}, own_folders()
    yield
    for path in bpy.utils.blend_paths(absolute=False, packed=False, local=True):
        place = os.path.normpath(bpy.path.abspath(path))
        if path and place not in known and not is_own(place, own):
            known.add(place)
            absolute = not path.startswith("//")
            reported.append(NamedFile(path, place, "file", _state(place), absolute))
    yield
    opened = [each.place for each in reported if each.kind == "library" and each.state == "found"]
    leaving = outside(opened)
    waiting = [(place, place) for place in opened if place not in leaving]
    for each in (yield from _in_a_thread("", lambda: _named_on_disk(waiting, own))):
        loaded = linked_from.get((each.kind, os.path.realpath(each.named_in), each.place))
        if loaded is not None:
            using, objects = tuple(sorted(users[loaded])), tuple(needing[loaded])
            each = replace(each, users=using, objects=objects, name=loaded[1])
            each = _connected(each, linked) if each.kind == "image" else each
        reported.append(each)
    return reported


def _found_as(kind: str, each: Any) -> tuple[str, str, str]:
    """Return how the file of linked data is found on disk: its kind, the file that names it, and
    its own place."""
    holder = os.path.realpath(bpy.path.abspath(each.library.filepath))
    place = os.path.normpath(bpy.path.abspath(each.filepath, library=each.library))
    return kind, holder, place


def _naming() -> Iterator[tuple[Any, str]]:
    return ((getattr(bpy.data, name), kind) for name, kind in NAMING.items())


def _names_a_file(each: Any) -> bool:
    return each.library is None and _has_a_path(each)


def _has_a_path(each: Any) -> bool:
    sources = ("FILE", "SEQUENCE", "MOVIE", "TILED")
    fits = not isinstance(each, bpy.types.Image) or each.source in sources
    return bool(fits and each.filepath and not each.filepath.startswith("<"))


#: The kind of a datablock that names a file, and its full name.
_Key = tuple[str, str]


def _users_of(
    named: list[tuple[_Key, Any]],
) -> Generator[None, None, tuple[dict[_Key, set[str]], dict[_Key, list[str]]]]:
    """For each of these datablocks, return what uses it, and the objects of the file that need it:
    through their data, materials, modifiers and node groups, and through the objects and
    collections whose instances they show. A library is also needed through what an object
    follows, such as its parent."""
    using: dict[_Key, set[str]] = {key: set() for key, _ in named}
    if not named:
        return using, {}
    reached = _reached(named, using)
    own = {_named(each): key for key, each in named}
    yield
    for each, scenes in bpy.data.user_map(key_types=_types(), value_types={_SCENE}).items():
        if (key := own.get(_named(each))) is not None:
            using[key].update(one.name_full for one in scenes)
    yield
    needs: dict[str, frozenset[_Key]] = {}
    same: dict[frozenset[_Key], frozenset[_Key]] = {}  # Many objects need the same.
    showing: dict[str, list[str]] = {}
    needing: dict[_Key, list[str]] = {key: [] for key, _ in named}
    for part in _in_stretches_of_file():
        for obj in part:
            libraries, needed = {obj.library}, set()
            for each in _needed_by(obj):
                if each is not None:
                    libraries.add(each.library)
                    needed |= reached.get(_named(each), set())
                    if (key := own.get(_named(each))) is not None:
                        using[key].add(obj.name_full)
            needed |= {("library", each.name_full) for each in libraries if each is not None}
            needed |= {(_SHOWS, each) for each in _shown_by(obj)}
            name, every = obj.name_full, frozenset(needed)
            needs[name] = same.setdefault(every, every)
            if shown := [each for kind, each in needed if kind == _SHOWS]:
                showing[name] = shown
            for key in needed:
                if key in needing:
                    needing[key].append(name)
        yield
    if showing:
        yield from _through_instances(showing, needs, needing)
    return using, needing


def _shown_by(obj: bpy.types.Object) -> Iterator[str]:
    """Yield what the object shows instances of: objects, and collections as ``collection: name``.
    What its node groups name themselves isn't among them."""
    if obj.instance_collection is not None:
        yield _shown_as(obj.instance_collection)
    for each in obj.modifiers:
        if each.type == "NODES":
            shown = (bpy.types.Object, bpy.types.Collection)
            yield from (_shown_as(one) for one in named_by(each) if isinstance(one, shown))


def _shown_as(each: Any) -> str:
    before = _COLLECTION if isinstance(each, bpy.types.Collection) else ""
    return f"{before}{each.name_full}"


def _through_instances(
    showing: Mapping[str, list[str]],
    needs: dict[str, frozenset[_Key]],
    needing: Mapping[_Key, list[str]],
) -> Generator[None, None, None]:
    """Add what the objects need whose instances each object shows."""
    inside = {each: {each} for shown in showing.values() for each in shown}
    yield
    for part in _in_stretches(bpy.data.collections):
        for each in part:
            if (held := inside.get(_shown_as(each))) is not None:
                for below in (each, *each.children_recursive):
                    held.update(one.name_full for one in below.objects)
                    if below.library is not None:
                        held.add(_shown_as(below))
                        needs[_shown_as(below)] = frozenset({("library", below.library.name_full)})
        yield
    grown = True
    while grown:
        grown = False
        of: dict[str, frozenset[_Key]] = {}
        for at, held in inside.items():
            of[at] = frozenset().union(*(needs.get(one, ()) for one in held))
            yield
        for name, shown in showing.items():
            more = frozenset().union(*(of[each] for each in shown)) - needs[name]
            if more:
                needs[name] |= more
                grown = True
                for key in more:
                    if key in needing:
                        needing[key].append(name)
                yield


def _reached(
    named: list[tuple[_Key, Any]], using: dict[_Key, set[str]]
) -> dict[tuple[str, str], set[_Key]]:
    """For each datablock, return which of the ``named`` ones it needs, and what instances its node
    groups show. Linked data needs its library. Objects, meshes and collections are left out,
    because there may be too many to query at once, and scenes, because no object needs one. Add
    what uses each named datablock to ``using``, such as an image's node groups and their
    materials."""
    reached: dict[Any, set[_Key]] = {each: {key} for key, each in named}
    keys = {each: key for key, each in named}
    # Blender skips the other lists of datablocks only when no types of keys are given.
    users = bpy.data.user_map(value_types=_types() - {_SCENE})
    for each, using_it in users.items():
        if isinstance(each, (bpy.types.Object, bpy.types.Collection)):
            for tree in using_it:
                if isinstance(tree, bpy.types.NodeTree):
                    reached.setdefault(tree, set()).add((_SHOWS, _shown_as(each)))
        elif each.library is not None and not isinstance(each, bpy.types.Mesh):
            reached.setdefault(each, set()).add(("library", each.library.name_full))
    for each, key in keys.items():
        using[key].update(one.name_full for one in users.get(each, ()))
    at = set(reached)
    while at:
        grown = set()
        for each in at:
            for one in users.get(each, ()):
                needs = reached.setdefault(one, set())
                if not reached[each] <= needs:
                    needs |= reached[each]
                    grown.add(one)
        at = grown
    for each, needs in reached.items():
        for key in needs - {keys.get(each)}:
            if key in using:
                using[key].add(each.name_full)
    return {_named(each): needs for each, needs in reached.items()}


def _types() -> set[str]:
    # Blender 3.4 has no such enumeration of its own datablocks, but a driver can name any kind.
    kinds = bpy.types.DriverTarget.bl_rna.properties["id_type"].enum_items.keys()
    return set(kinds).difference(_MANY)


def _named(each: Any) -> tuple[str, str]:
    return type(each).__name__, each.name_full


def _needed_by(obj: bpy.types.Object) -> Iterator[Any]:
    yield from (obj.data, obj.instance_collection, obj.parent)
    if obj.animation_data is not None:
        yield obj.animation_data.action
    yield from (slot.material for slot in obj.material_slots)
    for each in (*obj.modifiers, *obj.constraints):
        yield from named_by(each)
    yield from (each.settings for each in obj.particle_systems)
    if obj.override_library is not None:
        yield obj.override_library.reference


def _in_stretches_of_file() -> Iterator[list[Any]]:
    """Yield the file's objects in batches. Blender takes a long time to find the middle of a long
    list, so many are listed at once, and again after a change to the scene."""
    at = 0
    listed_now: list[Any] = []
    before: object = None
    while True:
        if (now := listed()) is not before:
            before = now
            yield []
            listed_now = []
        if not listed_now:
            listed_now = list(bpy.data.objects[at : at + _LISTED])
        part, listed_now = listed_now[:_STRETCH], listed_now[_STRETCH:]
        if not part:
            return
        yield part
        at += len(part)


def _reference(each: Any, kind: str, users: Iterable[str], needing: Sequence[str]) -> NamedFile:
    place = os.path.normpath(bpy.path.abspath(each.filepath))
    held = getattr(each, "packed_file", None)
    if isinstance(each, bpy.types.Library):
        users = {one.name_full for one in each.users_id}
    return NamedFile(
        each.filepath,
        place,
        kind,
        _state(place) if held is None else "packed",
        not each.filepath.startswith("//"),
        tuple(sorted(users)),
        objects=tuple(needing),
        name=each.name_full,
        unreadable="it is packed without any data" if held is not None and not held.size else "",
    )


def _connected(each: NamedFile, linked: Mapping[str, Mapping[str, bool]]) -> NamedFile:
    """Add whether the image is linked to an output, if nodes name it."""
    if not (there := linked.get(each.name)):
        return each
    without = tuple(sorted(name for name, reaches in there.items() if not reaches))
    return replace(each, connected=any(there.values()), unconnected_in=without)


def _state(place: str) -> str:
    return "found" if any(Path(each).exists() for each in of_many(place)) else "missing"


def _named_on_disk(waiting: list[tuple[str, str]], own: Sequence[str]) -> list[NamedFile]:
    """Return the files that these files name, and the files named in the libraries among them.
    ``waiting`` pairs each path with its ``NamedFile.named_in``."""
    reported: list[NamedFile] = []
    seen = {os.path.realpath(file) for file, _ in waiting}
    while waiting:
        file, named_in = waiting.pop(0)
        named: dict[tuple[str, str, bool], set[str]] = {}
        # A library that can't be read is reported, but not the files that it names.
        with suppress(*(_UNREADABLE if named_in else ())):
            for kind, text, owner, packed in BlendFacts(file).named:
                named.setdefault((kind, text, packed), set()).add(owner)
        for (kind, text, packed), owners in named.items():
            place = os.path.normpath(place_of(text, file))
            if is_own(place, own):
                continue
            each = _on_disk(kind, text, place, packed, owners, named_in)
            reported.append(each)
            real = os.path.realpath(place)
            if each.kind == "library" and each.state == "found" and real not in seen:
                seen.add(real)
                if not outside([place]):
                    waiting.append((place, place))
    return reported


def _on_disk(
    kind: str, text: str, place: str, packed: bool, owners: set[str], named_in: str
) -> NamedFile:
    state = "packed" if packed else _state(place)
    users = () if kind == "library" else tuple(sorted(filter(None, owners)))
    return NamedFile(text, place, kind, state, not text.startswith("//"), users, named_in)
