"""Finds objects by name. Blender's object names are unique in a file, so the name is also the path.
The path of a linked object contains its library's name.

Blender searches linearly for a name. So this module lists the objects once and uses the list until
``forget`` is called because the scene has changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from callboard.errors import HostError
from callboard.host import AmbiguousName, ObjectNotFound, nearest_names

#: Types whose data gives their size without evaluation by Blender.
_PLAIN = ("MESH", "EMPTY", "LIGHT", "CAMERA")
#: The tool that shows another scene.
SHOW_SCENE = "blender_data__show_scene"
#: Maximum number of other scenes that are named.
_MOST_SCENES = 10


class NotInThisScene(ObjectNotFound):
    """Raised when the name belongs to an object of another scene, or to a scene."""

    def __init__(self, name: str, why: str) -> None:
        HostError.__init__(self, why)
        self.name = name
        self.nearest = []


def scene() -> bpy.types.Scene:
    """Return the scene that is shown, or the first one if there is no window."""
    return bpy.context.scene or bpy.data.scenes[0]


def view_layer() -> bpy.types.ViewLayer:
    return bpy.context.view_layer or scene().view_layers[0]


def top_collection(layer: bpy.types.ViewLayer) -> bpy.types.LayerCollection:
    """Return the view layer's top collection. In Blender 5.2, a new scene's view layer has none
    before its first update."""
    if layer.layer_collection is None:
        layer.update()
    return layer.layer_collection


class Listed:
    """The objects of one scene at the time they were listed."""

    def __init__(self, shown: bpy.types.Scene) -> None:
        self.scene = shown.as_pointer()
        self.objects: list[bpy.types.Object] = shown.objects.values()
        self._paths: dict[str, bpy.types.Object] | None = None
        self._below: dict[bpy.types.Object | None, list[bpy.types.Object]] | None = None

    @property
    def paths(self) -> dict[str, bpy.types.Object]:
        if self._paths is None:
            self._paths = {obj.name_full: obj for obj in self.objects}
        return self._paths

    def below(self, obj: bpy.types.Object) -> list[bpy.types.Object]:
        if self._below is None:
            self._below = defaultdict(list)
            for each in self.objects:
                self._below[each.parent].append(each)
        return self._below.get(obj, [])

    def renamed(self, old: str, new: str) -> None:
        if self._paths is not None:
            self._paths = {new if p == old else p: obj for p, obj in self._paths.items()}

    def add(self, obj: bpy.types.Object) -> None:
        self.objects.append(obj)
        if self._paths is not None:
            self._paths[obj.name_full] = obj
        if self._below is not None:
            self._below[obj.parent].append(obj)


_index: Listed | None = None
#: Number of calls to ``forget``.
_forgotten = 0
#: Objects made since Blender last evaluated the scene. Their position depends only on their own
#: transform. Evaluating the scene for each new object would take longer and longer as objects are
#: added.
_new: set[bpy.types.Object] = set()


def forget() -> None:
    """Drop the list because the scene has changed or is about to. After an undo step, or once a
    file has been opened, old references to objects are invalid."""
    global _index, _forgotten
    _index = None
    _new.clear()
    _forgotten += 1


@contextmanager
def same_objects() -> Iterator[None]:
    """Keep the list during one of our own changes that leaves the object hierarchy unchanged, and
    during the one update that Blender reports for that change. If Blender reports more updates, the
    list is dropped."""
    global _index
    index, forgotten = _index, _forgotten
    yield
    if _forgotten <= forgotten + 1:
        _index = index


def rename(obj: bpy.types.Object, name: str) -> str:
    """Rename the object. Return its new full path."""
    old = obj.name_full
    with same_objects():
        obj.name = name
        view_layer().update()
    if _index is not None:
        _index.renamed(old, obj.name_full)
    return str(obj.name_full)


def changed(obj: bpy.types.Object) -> str:
    """Update the scene after a change to the object, unless the object is new. Return its full
    path."""
    if obj not in _new:
        view_layer().update()
        forget()
    return str(obj.name_full)


def made(obj: bpy.types.Object) -> str:
    """Record that the object is new and has been linked to a collection. Blender evaluates it at
    the next change to another object. Return its full path."""
    if obj.type not in _PLAIN or obj.parent is not None or obj.modifiers or obj.constraints:
        return changed(obj)
    index = _index
    if _current() is index:
        index.add(obj)
    _new.add(obj)
    return str(obj.name_full)


def is_new(obj: bpy.types.Object) -> bool:
    """Return whether Blender hasn't evaluated the object yet, so that its position depends only on
    its own transform."""
    return obj in _new


def settle(obj: bpy.types.Object | None = None) -> None:
    """Have Blender evaluate the changes, unless the object is new."""
    if obj not in _new:
        view_layer().update()
        _new.clear()


def objects() -> list[bpy.types.Object]:
    """Return the scene's objects, in scene order. Don't change the list, and don't keep it beyond a
    change to the scene."""
    return listed().objects


def listed() -> Listed:
    """Return the scene's objects, with an index by full path."""
    # Without this call, Blender doesn't report the objects that a script has just added or removed.
    settle()
    return _current()


def paths() -> list[str]:
    """Return every object's full path, in scene order."""
    return [obj.name_full for obj in objects()]


def count() -> int:
    """Return how many objects the scene has."""
    return len(_current().objects if _new else objects())


def find(name: str, *, new: bool = False) -> bpy.types.Object:
    """Return the scene's object with that full path, or else the only one with that bare name. The
    object is evaluated first, unless it is new and ``new`` allows that. Raises ObjectNotFound or
    AmbiguousName. Don't keep the object."""
    if _new and not (new and _look_up(name) in _new):
        settle()
    named = _look_up(name)
    if named is None:
        # The scene may have changed without Blender having reported it yet.
        forget()
        named = _look_up(name)
    if named is None:
        known = objects()
        alike = [obj for obj in known if obj.library is not None and obj.name == name]
        if len(alike) > 1:
            raise AmbiguousName(name, [obj.name_full for obj in alike])
        named = alike[0] if alike else None
    if named is None:
        raise _elsewhere(name) or ObjectNotFound(
            name, nearest_names(name, (obj.name for obj in objects()))
        )
    return named


def _elsewhere(name: str) -> NotInThisScene | None:
    """Return an error that says where in the file this name is, or None if it is nowhere."""
    bare = {name, name.rpartition(" [")[0]}
    alike = ((each, each.objects.get(word)) for each in bpy.data.scenes for word in bare)
    holding = [
        f"'{each.name_full}'" for each, obj in alike if obj and name in (obj.name_full, obj.name)
    ]
    if holding:
        why = f"'{name}' isn't in the scene '{scene().name_full}', but in {', '.join(holding)}"
        return NotInThisScene(name, f"{why}. Show that scene with {SHOW_SCENE} first.")
    if name in (each.name_full for each in bpy.data.scenes):
        why = f"'{name}' is a scene, not an object"
        return NotInThisScene(name, f"{why}. {SHOW_SCENE} shows a scene.")
    if bpy.data.objects.get((name, None)) is not None:
        why = (
            f"'{name}' is in no scene of this file. blender_data__list_modifiers,"
            " blender_data__set_modifiers, blender_data__list_constraints and"
            " blender_data__list_drivers read and change such objects, and blender_data__remove"
            " removes them."
        )
        return NotInThisScene(name, why)
    linked = (each for each in bpy.data.objects if each.library is not None)
    named = next((each for each in linked if name in (each.name_full, each.name)), None)
    if named is not None:
        inside = ", ".join(f"'{each.name_full}'" for each in named.users_collection)
        why = f"'{named.name_full}' is linked, and in no scene of this file"
        why += f", but in {inside}, which instances may show" if inside else ""
        return NotInThisScene(
            name,
            f"{why}. blender_data__get_values reads such objects, and blender_data__count_rendered"
            " counts their instances.",
        )
    return None


def covers() -> str | None:
    """Return which scene the answers cover and how to see another one, or None if there is only one
    scene."""
    shown = scene()
    others = [f"'{each.name_full}'" for each in bpy.data.scenes if each != shown]
    if not others:
        return None
    more = f" and {len(others) - _MOST_SCENES} more" if len(others) > _MOST_SCENES else ""
    return (
        f"only the scene '{shown.name_full}'; {SHOW_SCENE} shows another one: "
        f"{', '.join(others[:_MOST_SCENES])}{more}; blender_data__list lists kind 'objects' of all"
    )


def children(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the direct children that are in this scene."""
    return _current().below(obj)


def tree(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the object and everything below it in this scene, parents first."""
    index = _current()
    members = [obj]
    for each in members:
        members.extend(index.below(each))
    return members


def in_scene(obj: bpy.types.Object) -> bool:
    return bool(_current().paths.get(obj.name_full) == obj)


def _current() -> Listed:
    global _index
    shown = scene()
    if _index is None or _index.scene != shown.as_pointer():
        _index = Listed(shown)
    return _index


def _look_up(name: str) -> bpy.types.Object | None:
    obj = _current().paths.get(name)
    try:
        return obj if obj is not None and obj.name_full == name else None
    except ReferenceError:  # The object was removed.
        return None
