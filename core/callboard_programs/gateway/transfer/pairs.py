"""Finds the copy of each object. This isn't a matter of names alone: hosts write one object as
several prims, read several prims as one object, and rename objects whose names are taken."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import dist

from callboard_programs.gateway.transfer.scene_facts import SceneFacts

#: The types of objects without a shape.
_GROUPS = ("xform", "empty", "null", "transform", "group", "locator", "scope")
#: The suffix that hosts add to a name that is already taken.
_SUFFIX = re.compile(r"[._]?\d+$")
_STILL = 1e-6


@dataclass(frozen=True)
class Item:
    """One object as the artist sees it: ``path`` is the scene object that has the transform, and
    ``shape`` is the scene object that has the shape. They may be the same."""

    path: str
    shape: str

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.path, self.shape)))


def items_of(facts: SceneFacts) -> list[Item]:
    """Return the requested objects, parents first."""
    children = _children(facts)
    items: list[Item] = []
    taken: set[str] = set()
    for path in sorted(facts.asked, key=lambda each: len(facts.above(each))):
        if path in taken:
            continue
        shapes = [
            child
            for child in children.get(path, ())
            if child.startswith(f"{path}/") and _is_shape_of(facts, child, path, children)
        ]
        shape = shapes[0] if len(shapes) == 1 else path
        taken.add(shape)
        items.append(Item(path, shape))
    return items


def paired(source: SceneFacts, there: list[Item], far: SceneFacts) -> dict[Item, Item]:
    """Return the source's objects for which a copy is found, each with its copy. Takes seconds for
    thousands of objects whose names differ only in a number."""
    left = _Left(far)
    became: dict[Item, Item] = {}
    by_path = {path: item for item in there for path in item.paths}
    for freedom in range(3):
        for item in there:
            if item in became:
                continue
            parent = next((by_path[p] for p in source.above(item.path) if p in by_path), None)
            above = became.get(parent) if parent is not None else None
            best = left.take(source, item, freedom, above)
            if best is not None:
                became[item] = best
    children = _children(far)
    for item, other in became.items():
        # One object in the source may be an empty on the far side, with the shape below it.
        if other.shape == other.path and not _is_group(source, item.shape):
            for path in children.get(other.path, ()):
                child = left.by_path.get(path)
                if child is not None and _is_shape_of(far, path, other.path, children):
                    became[item] = Item(other.path, path)
                    left.drop(child)
                    break
    return became


class _Left:
    """The far side's objects that haven't been matched with an object of the source."""

    def __init__(self, far: SceneFacts) -> None:
        self._far = far
        items = items_of(far)
        self.by_path = {item.path: item for item in items}
        self._names = {item: name_of(far, item.path) for item in items}
        self._places = {item: far.world(item.path)[3] for item in items}
        #: The objects in the scene's order, by full name, and by name without the number.
        self._called: dict[str, dict[Item, None]] = {}
        self._numbered: dict[str, dict[Item, None]] = {}
        for item, name in self._names.items():
            self._called.setdefault(identifier(name), {})[item] = None
            self._numbered.setdefault(_stem(identifier(name)), {})[item] = None

    def take(self, source: SceneFacts, item: Item, freedom: int, above: Item | None) -> Item | None:
        """Remove the best match for ``item``, and return it, or None if there is none. With
        ``freedom`` 0 the match has the same name. With 1 a number may have been added to the name,
        and with 2 the number may differ. Objects below ``above`` are preferred."""
        wanted = identifier(name_of(source, item.path))
        named = self._numbered if freedom else self._called
        fitting = list(named.get(_stem(wanted) if freedom == 2 else wanted, ()))
        if above is not None:
            below = [each for each in fitting if above.path in self._far.above(each.path)]
            fitting = below or fitting
        if not fitting:
            return None
        place = source.world(item.path)[3]
        best = min(
            fitting, key=lambda each: (self._names[each] != wanted, dist(place, self._places[each]))
        )
        self.drop(best)
        return best

    def drop(self, item: Item) -> None:
        name = identifier(self._names[item])
        del self.by_path[item.path], self._called[name][item], self._numbered[_stem(name)][item]


def name_of(facts: SceneFacts, path: str) -> str:
    return str(facts.objects[path].get("name", ""))


def identifier(name: str) -> str:
    """Return a name in the form that names have in USD files. Some hosts replace each unsuitable
    character with ``_``, and others each of its bytes, so here a run of such characters becomes a
    single ``_``."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name)
    return f"_{plain}" if plain[:1].isdigit() else plain


def _children(facts: SceneFacts) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for path in facts.asked:
        parent = facts.parent(path)
        if parent is not None:
            children.setdefault(parent, []).append(path)
    return children


def _is_shape_of(facts: SceneFacts, child: str, path: str, children: dict[str, list[str]]) -> bool:
    if _is_group(facts, child) or not _is_group(facts, path) or children.get(child):
        return False
    flat = [value for row in facts.local(child) for value in row]
    still = [float(i == j) for i in range(3) for j in range(3)] + [0.0] * 3
    return all(abs(a - b) < _STILL for a, b in zip(flat, still, strict=True))


def _is_group(facts: SceneFacts, path: str) -> bool:
    return str(facts.objects[path].get("type", "")).lower() in _GROUPS


def _stem(name: str) -> str:
    return _SUFFIX.sub("", name)


def added(far: SceneFacts, pairs: Iterable[Item]) -> list[str]:
    """Return the objects on the far side that aren't copies of anything."""
    known = {path for item in pairs for path in item.paths}
    return [path for path in far.asked if path not in known]
