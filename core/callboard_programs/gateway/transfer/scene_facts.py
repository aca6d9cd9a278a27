"""The facts that an instance's own tools report about objects: transforms, materials and motion. An
instance's answers aren't trusted: malformed values are left out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from callboard.content import Json
from callboard.ground.matrices import Rows, compose, times
from callboard_programs.gateway.transfer.instance_calls import CallRefused, InstanceCalls

#: Entries in a page of a list, and the maximum number of entries in a list.
_PAGE, _MOST = 1000, 100_000
_GET = "scene__get_object"
#: The number of objects that can be listed in the time that a request for a single object takes.
_MANY = 10
#: The rotation that turns Z up into Y up.
_UPRIGHT: Rows = [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
_NOWHERE: Rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]

#: The lowest and the highest corner of a box.
Box = tuple[list[float], list[float]]


@dataclass(frozen=True)
class SceneFacts:
    """Facts about some objects of one scene, in the scene's order."""

    metres: float
    up: str
    fps: float
    #: The answers of ``scene__get_object`` by path, for the objects and all their parents.
    objects: Mapping[str, Json]
    #: The paths of the requested objects.
    asked: tuple[str, ...]
    cameras: Mapping[str, Json] = field(default_factory=dict)
    lights: Mapping[str, Json] = field(default_factory=dict)
    materials: Mapping[str, Json] = field(default_factory=dict)
    #: The answers of ``animation__list_keys`` by path, or nothing if the host doesn't have that
    #: tool.
    keys: Mapping[str, list[Json]] = field(default_factory=dict)

    def parent(self, path: str) -> str | None:
        parent = self.objects.get(path, {}).get("parent")
        return parent if isinstance(parent, str) else None

    def above(self, path: str) -> list[str]:
        """Return the ancestors of an object, nearest first."""
        holders: list[str] = []
        parent = self.parent(path)
        while parent is not None and parent not in holders:
            holders.append(parent)
            parent = self.parent(parent)
        return holders

    def moves(self, path: str) -> bool:
        """Return whether the object, or one of its ancestors, has keys."""
        return any(self.objects.get(p, {}).get("key_count") for p in (path, *self.above(path)))

    def strays(self, path: str) -> bool:
        """Return whether anything moves the object, or one of its ancestors, away from its own
        transform."""
        return any(self.objects.get(p, {}).get("doubt") for p in (path, *self.above(path)))

    def local(self, path: str, key: Mapping[str, Any] | None = None) -> Rows:
        """Return the object's transform relative to its parent, at ``key`` if it is given."""
        reported = {**self.objects.get(path, {}), **(key or {})}
        parts = (vector(reported.get(name)) for name in ("translate", "rotate", "scale"))
        translate, rotate, scale = parts
        if translate is None or rotate is None or scale is None:
            return _NOWHERE
        return compose(translate, rotate, scale)

    def world(self, path: str, key: Mapping[str, Any] | None = None) -> Rows:
        """Return the object's world transform in meters, with Y up. Each axis is as long as one
        unit of the object."""
        rows = self.local(path, key)
        for parent in self.above(path):
            rows = times(rows, self.local(parent))
        return self._upright(rows)

    def begins(self, path: str) -> Rows:
        """Return the object's world transform at the first keys of the object and its ancestors, in
        the form of ``world``."""
        rows = self.local(path, next(iter(self.keys.get(path, ())), None))
        for parent in self.above(path):
            rows = times(rows, self.local(parent, next(iter(self.keys.get(parent, ())), None)))
        return self._upright(rows)

    def _upright(self, rows: Rows) -> Rows:
        if self.up == "Z":
            rows = times(rows, _UPRIGHT)
        return [[value * self.metres for value in row] for row in rows]

    def box(self, path: str) -> Box | None:
        """Return the object's world box, in meters with Y up. Return None if there are objects
        below it, because hosts combine boxes in different ways."""
        reported = self.objects.get(path, {})
        bounds = reported.get("bounds")
        if reported.get("children") or not isinstance(bounds, dict):
            return None
        low, high = vector(bounds.get("min")), vector(bounds.get("max"))
        if low is None or high is None or not len(low) == len(high) == 3:
            return None
        if self.up == "Z":
            low, high = [low[0], low[2], -high[1]], [high[0], high[2], -low[1]]
        return [value * self.metres for value in low], [value * self.metres for value in high]


async def names_in(calls: InstanceCalls) -> dict[str, str | None]:
    """Return each object's path with its parent's path, in the scene's order. Raises
    CallRefused."""
    reported = await _pages(calls, "scene__list_objects", "objects")
    return {
        each["path"]: each.get("parent") for each in reported if isinstance(each.get("path"), str)
    }


async def read_facts(
    calls: InstanceCalls, tree: Mapping[str, str | None], asked: Iterable[str]
) -> SceneFacts:
    """Return the facts about the requested objects. Raises CallRefused."""
    asked = tuple(asked)
    info = await calls.call("scene__scene_info")
    wanted = dict.fromkeys(asked)
    for path in asked:
        above = tree.get(path)
        while above is not None and above not in wanted:
            wanted[above] = None
            above = tree.get(above)
    objects = await _objects(calls, tree, list(wanted))
    moving = [path for path in asked if objects[path].get("key_count")]
    used = dict.fromkeys(name for path in asked for name in strings(objects[path].get("materials")))
    return SceneFacts(
        1 / (number(info.get("units_per_meter")) or 1.0),
        str(info.get("up_axis")),
        number(info.get("fps")) or 24.0,
        objects,
        asked,
        await _listed(calls, "cameras", any("lens" in objects[path] for path in asked)),
        await _listed(
            calls, "lights", any({"energy", "intensity"} & objects[p].keys() for p in asked)
        ),
        await _each(calls, "materials__get", used),
        {path: reported["keys"] for path, reported in (await _keys(calls, moving)).items()},
    )


def number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return None
    return float(value)


def vector(value: Any) -> list[float] | None:
    """Return the value if it is a list of numbers, or None otherwise."""
    numbers = [number(each) for each in value] if isinstance(value, list) else []
    return (
        [each for each in numbers if each is not None] if numbers and None not in numbers else None
    )


def strings(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


async def _objects(
    calls: InstanceCalls, tree: Mapping[str, str | None], wanted: Sequence[str]
) -> dict[str, Json]:
    if len(wanted) * _MANY < len(tree):
        reported = await asyncio.gather(*(calls.call(_GET, {"name": path}) for path in wanted))
        return dict(zip(wanted, reported, strict=True))
    listed = await _pages(calls, "scene__list_objects", "objects", {"details": True})
    objects = {str(each.get("path")): each for each in listed}
    gone = [path for path in wanted if path not in objects]
    if gone:
        raise CallRefused(
            f"{calls.name} no longer lists '{gone[0]}', so its scene has just changed; repeat the "
            f"transfer"
        )
    return {path: objects[path] for path in wanted}


async def _listed(calls: InstanceCalls, kind: str, there: bool) -> dict[str, Json]:
    """Return the entries of one of the scene's lists, by path. The result is empty if ``there`` is
    false or the instance doesn't have such a list."""
    if not there:
        return {}
    try:
        reported = await _pages(calls, f"{kind}__list", kind)
    except CallRefused:
        return {}
    return {each["path"]: each for each in reported if isinstance(each.get("path"), str)}


async def _each(calls: InstanceCalls, tool: str, names: Iterable[str]) -> dict[str, Json]:
    async def one(name: str) -> Json:
        try:
            return await calls.call(tool, {"name": name})
        except CallRefused:
            return {}

    names = list(names)
    reported = await asyncio.gather(*map(one, names))
    return {name: each for name, each in zip(names, reported, strict=True) if each}


async def _keys(calls: InstanceCalls, names: Iterable[str]) -> dict[str, Json]:
    async def one(name: str) -> Json:
        try:
            return {"keys": await _pages(calls, "animation__list_keys", "keys", {"name": name})}
        except CallRefused:
            return {}

    names = list(names)
    reported = await asyncio.gather(*map(one, names))
    return {name: each for name, each in zip(names, reported, strict=True) if each}


async def _pages(
    calls: InstanceCalls, tool: str, key: str, arguments: Json | None = None
) -> list[Json]:
    gathered: list[Json] = []
    offset = 0
    while offset < _MOST:
        page = await calls.call(tool, {**(arguments or {}), "offset": offset, "limit": _PAGE})
        entries = page.get(key)
        gathered += (
            [each for each in entries if isinstance(each, dict)]
            if isinstance(entries, list)
            else []
        )
        following = page.get("next_offset")
        if not isinstance(following, int) or following <= offset:
            return gathered
        offset = following
    raise CallRefused(f"{calls.name} lists more than {_MOST} {key}; transfer fewer objects at once")
