"""Replaces arguments that came from an earlier step with references to that step's result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from callboard.skills.from_calls.steps import Made, Place, Reference, places, put

#: Arguments that name an object in the scene.
NAMING = frozenset(
    (
        *("name", "names", "object", "objects", "parent", "target", "targets", "path", "paths"),
        *("source", "camera", "material", "light", "group", "children", "members", "items"),
    )
)
_MAKING = ("create", "new", "duplicate", "make")
_MOVING = ("rename", "set_parent")
#: A name with the number that hosts append if the name is already taken.
_NUMBERED = re.compile(r"(.+?)[._ ]?0*([1-9][0-9]*)")
_KEY = re.compile(r"[A-Za-z0-9_-]+")


def last_part(text: str) -> str:
    """Return the bare name of a scene path, in any host's spelling."""
    return re.split(r"[/|]", text.rstrip("/|"))[-1]


def is_scene_path(text: str) -> bool:
    return text[:1] in ("/", "|")


def names_it_makes(step: Made, key: str) -> bool:
    """Return whether the argument names the object that the step makes, not an existing one."""
    if key == "new_name":
        return True
    return key == "name" and step.tool.name.startswith(_MAKING) and not _copies(step)


def link(steps: list[Made]) -> None:
    """Put references into the steps' arguments."""
    made = _Things()
    for step in steps:
        for place in list(places(step)):
            value = place.value
            if not isinstance(value, str) or isinstance(value, Reference) or "enum" in place.schema:
                continue
            if names_it_makes(step, place.key) or _is_file(place):
                continue
            reference = made.reference(_kind(step, place.key), value, place.key in NAMING)
            if reference is not None:
                put(step, place.way, Reference(reference))
                step.uses.add(reference.partition(".")[0])
        made.learn(step)


def _is_file(place: Place) -> bool:
    return place.schema.get("format") == "workspace-path"


def _copies(step: Made) -> bool:
    return step.tool.name.startswith("duplicate")


def _kind(step: Made, key: str) -> str:
    """Return the kind of object that an argument names. Objects of different kinds may share a
    name."""
    if key == "material" or (step.skill.name == "materials" and key == "name"):
        return "material"
    if key == "group" or ("group" in step.tool.name and key == "name"):
        return "group"
    return "object"


class _Things:
    """The objects that the steps made so far, by kind and by path or bare name."""

    def __init__(self) -> None:
        self._references: dict[tuple[str, str], str] = {}
        #: References to objects that were made without a known result, by base name, in order.
        self._by_base: dict[tuple[str, str], list[str]] = {}
        self._parents: dict[str, str] = {}
        #: Objects whose paths are no longer known.
        self._lost: set[tuple[str, str]] = set()

    def reference(self, kind: str, text: str, names: bool) -> str | None:
        """Return a reference for a string, or None. If ``names`` is true, the argument names an
        object, so a bare name counts too."""
        if (kind, text) in self._references and (names or is_scene_path(text)):
            return self._references[kind, text]
        if not names and not is_scene_path(text):
            return None
        bare = last_part(text)
        if (kind, bare) in self._references:
            return self._references[kind, bare]
        if (kind, bare) in self._lost:
            return None
        named = self._by_base.get((kind, bare.lower()), [])[:1]
        if not named and (numbered := _NUMBERED.fullmatch(bare)):
            # `lamp_1` is the second object that was meant to be called `lamp`.
            taken = self._references.values()
            others = self._by_base.get((kind, numbered[1].lower()), [])[1:]
            named = [each for each in others if each not in taken]
        if named:
            self._references[kind, bare] = named[0]
        return named[0] if named else None

    def learn(self, step: Made) -> None:
        kind = _kind(step, "name")
        moved = step.tool.name in _MOVING
        if moved:
            self._forget_below(step)
        if step.result is not None:
            self._learn_result(step, kind, moved)
        elif moved:
            name = step.args.get("new_name") or self._named(step.args.get("name"))
            if isinstance(name, str):
                self._references[kind, last_part(name)] = f"{step.id}.changed.0"
        elif step.tool.name.startswith(_MAKING):
            name = step.args.get("name") or step.args.get("kind") or ""
            if isinstance(name, str):
                base = last_part(self._named(name) or name).lower()
                self._by_base.setdefault((kind, base), []).append(f"{step.id}.created.0")

    def _learn_result(self, step: Made, kind: str, moved: bool) -> None:
        result = step.result or {}
        for key in ("created", "changed") if moved else ("created",):
            paths = result.get(key)
            for index, path in enumerate(paths if isinstance(paths, list) else []):
                if isinstance(path, str):
                    for name in (path, last_part(path)):
                        self._references[kind, name] = f"{step.id}.{key}.{index}"
        asked = {place.value for place in places(step) if isinstance(place.value, str)}
        for way, text in _texts(result, ()):
            if text not in asked and way[0] not in ("created", "changed", "deleted"):
                self._references.setdefault((kind, text), ".".join((step.id, *way)))

    def _named(self, value: Any) -> str | None:
        """Return the bare name in an argument, even if a reference has replaced it."""
        if not isinstance(value, str):
            return None
        if not isinstance(value, Reference):
            return last_part(value)
        named = [name for (_, name), where in self._references.items() if where == value[2:-2]]
        return last_part(named[0]) if named else None

    def _forget_below(self, step: Made) -> None:
        """Forget the paths below an object that moves, because the move changes them. Only bare
        names still lead to the objects there."""
        name = self._named(step.args.get("name"))
        if name is None:
            return
        for child in [child for child, parent in self._parents.items() if parent == name]:
            gone = self._references.get(("object", child))
            for key in [key for key, where in self._references.items() if where == gone]:
                del self._references[key]
            self._lost.add(("object", child))
        parent = self._named(step.args.get("parent"))
        if parent is not None:
            self._parents[name] = parent


def _texts(value: Any, way: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield names and paths in a result, with the keys that lead to them."""
    if isinstance(value, str):
        if len(value) > 1 and way and (way[-1].isdigit() or way[-1] in (*NAMING, "id")):
            yield way, value
    elif isinstance(value, dict):
        for key, item in value.items():
            if _KEY.fullmatch(key):
                yield from _texts(item, (*way, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*way, str(index)))
