"""Objects by name. Blender's object names are unique in a file, so the name is also the path; an
object linked from a library carries the library's name in its path.

Blender looks a name up by going through all of them. So they are gone through once, and what was
found is used until the scene changes: ``forget``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from callboard.host import AmbiguousName, ObjectNotFound, nearest_names

#: What is as large as its data says, without Blender having worked it out.
_PLAIN = ("MESH", "EMPTY", "LIGHT", "CAMERA")


def scene() -> bpy.types.Scene:
    """The scene that is shown; without a window, the first one."""
    return bpy.context.scene or bpy.data.scenes[0]


def view_layer() -> bpy.types.ViewLayer:
    return bpy.context.view_layer or scene().view_layers[0]


class Listed:
    """The objects of one scene, as they were when they were gone through."""

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
#: How often it was forgotten.
_forgotten = 0
#: Made since Blender worked the scene out last, and where their own transform puts them. Working it
#: out for each of them anew takes longer the more there are.
_new: set[bpy.types.Object] = set()


def forget() -> None:
    """The scene changed, or is going to: its objects are looked up anew. Undoing a step, or opening
    a file, leaves dead references behind."""
    global _index, _forgotten
    _index = None
    _new.clear()
    _forgotten += 1


@contextmanager
def same_objects() -> Iterator[None]:
    """Around one change of ours, and Blender's one update for it, that leaves every object where it
    hangs. What was gone through before holds on, unless Blender tells of more than that."""
    global _index
    index, forgotten = _index, _forgotten
    yield
    if _forgotten <= forgotten + 1:
        _index = index


def rename(obj: bpy.types.Object, name: str) -> str:
    """Gives the object another name; returns its full path then."""
    old = obj.name_full
    with same_objects():
        obj.name = name
        view_layer().update()
    if _index is not None:
        _index.renamed(old, obj.name_full)
    return str(obj.name_full)


def changed(obj: bpy.types.Object) -> str:
    """The object was changed: the scene takes it in, unless it is new. Its full path."""
    if obj not in _new:
        view_layer().update()
        forget()
    return str(obj.name_full)


def made(obj: bpy.types.Object) -> str:
    """The object is new, and linked. It is taken in with the next change of another one. Its full
    path."""
    if obj.type not in _PLAIN or obj.parent is not None or obj.modifiers or obj.constraints:
        return changed(obj)
    index = _index
    if _current() is index:
        index.add(obj)
    _new.add(obj)
    return str(obj.name_full)


def is_new(obj: bpy.types.Object) -> bool:
    """Whether Blender hasn't worked it out yet: it is where its own transform puts it."""
    return obj in _new


def settle(obj: bpy.types.Object | None = None) -> None:
    """Has Blender work out what changed, unless the object is new."""
    if obj not in _new:
        view_layer().update()
        _new.clear()


def objects() -> list[bpy.types.Object]:
    """The scene's objects, in its order. Not to be changed, nor kept over a change."""
    return listed().objects


def listed() -> Listed:
    """The same, by their full paths as well."""
    # What a script added or removed a moment ago, Blender tells now.
    settle()
    return _current()


def paths() -> list[str]:
    """Every object's full path, in scene order."""
    return [obj.name_full for obj in objects()]


def count() -> int:
    """How many objects the scene has."""
    return len(_current().objects if _new else objects())


def find(name: str, *, new: bool = False) -> bpy.types.Object:
    """The scene's object of that full path, else the only one of that bare name, worked out unless
    a ``new`` one will do. Raises ObjectNotFound or AmbiguousName. Don't keep it."""
    if _new and not (new and _look_up(name) in _new):
        settle()
    named = _look_up(name)
    if named is None:
        # Somebody may have changed the scene without Blender having told yet.
        forget()
        named = _look_up(name)
    if named is None:
        known = objects()
        alike = [obj for obj in known if obj.library is not None and obj.name == name]
        if len(alike) > 1:
            raise AmbiguousName(name, [obj.name_full for obj in alike])
        named = alike[0] if alike else None
    if named is None:
        raise ObjectNotFound(name, nearest_names(name, (obj.name for obj in objects())))
    return named


def children(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The direct ones that are in this scene."""
    return _current().below(obj)


def tree(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The object and everything of this scene below it, parents first."""
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
    except ReferenceError:  # somebody removed it
        return None
