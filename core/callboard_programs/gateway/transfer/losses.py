"""The differences between each object and its copy, according to the facts that both instances
report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from math import dist, hypot
from typing import Any

from callboard.content import Json
from callboard.ground.matrices import Rows
from callboard_programs.gateway.transfer.pairs import Item
from callboard_programs.gateway.transfer.scene_facts import Box, SceneFacts, number, strings, vector

#: The differences for which a transfer is refused: the copy has a different position or size.
PLACE, AXES, BOX = "place", "rotation or scale", "world box"
MOVED = (PLACE, AXES, BOX)
#: The name of a difference in the box of a shape that one host measures by its control points and
#: the other by its surface.
HULL = "box of control points"
_HULLS = ("curve", "surface", "meta")
#: The relative error that single precision and a change of units may cause, and the error that
#: single precision may cause per unit of distance from the origin.
_CLOSE, _FAR_OFF = 1e-4, 1e-6
#: The shortest length that matters, in meters.
_SHORTEST = 1e-6
#: The error allowed in colors and fractions, which hosts may round to a byte.
_SHADE = 4e-3
#: The error allowed in a key's time, in frames.
_FRAME = 1e-2
#: The settings to compare: True for lengths in the scene's units, False for plain numbers.
_CAMERA = {"clip": True, "focus_distance": True, "fstop": False, "lens": False, "sensor": False}
_LIGHT = {"power": False, "size": True, "angle": False, "blend": False}
_MATERIAL = ("color", "metalness", "roughness", "ior", "transmission", "opacity")
#: The type of the modifier that reads a shape from a file at each frame.
_LINKED = "mesh_sequence_cache"
#: Maximum number of objects that are listed for each loss.
_NAMED = 20
_SHAPES = ("sphere", "cube", "plane", "cylinder", "cone", "torus")


class Losses:
    """The losses of one transfer. Each is ``{what, was, is, objects, count}``. ``is`` is None for a
    property that is missing in the copy."""

    def __init__(self, source: SceneFacts, far: SceneFacts, pairs: Mapping[Item, Item]) -> None:
        self._source, self._far, self._pairs = source, far, pairs
        self._of_path = {path: item for item in pairs for path in item.paths}
        #: Objects whose keys can't be compared by value, because one side doesn't report them.
        self.unchecked: list[str] = []

    def all(self, items: list[Item]) -> list[Json]:
        """Return the losses. If several objects have the same loss, it is listed once."""
        reported_once: dict[str, Json] = {}
        for item in items:
            other = self._pairs.get(item)
            if other is None:
                reported = [("object", self._source.objects[item.shape].get("type"), None)]
            else:
                reported = [*self._places(item, other), *self._looks(item, other)]
            for what, was, now in reported:
                lost: Json = {"what": what, "was": was, "is": now, "objects": [], "count": 0}
                lost = reported_once.setdefault(repr((what, was, now)), lost)
                lost["count"] += 1
                if lost["count"] <= _NAMED:
                    lost["objects"].append(item.path)
        return list(reported_once.values())

    # -- places ---------------------------------------------------------------------------------

    def _places(self, item: Item, other: Item) -> Iterator[tuple[str, Any, Any]]:
        was, now = self._parent(item), self._far_parent(other)
        if was is not None and now != was:
            yield "parent", was, now
        moving = self._source.moves(item.path) or self._far.moves(other.path)
        if not moving:
            if not self._source.strays(item.path) and not self._far.strays(other.path):
                places = self._source.world(item.path), self._far.world(other.path)
                yield from _displaced(*places)
            yield from self._box(item, other)
        yield from self._keys(item, other)

    def _box(self, item: Item, other: Item) -> Iterator[tuple[str, Any, Any]]:
        was, now = self._source.box(item.shape), self._far.box(other.shape)
        if not was or not now or _same_box(was, now):
            return
        shapes = self._source.objects[item.shape], self._far.objects[other.shape]
        if any({"armature", _LINKED} & {*_modifiers(each)} for each in shapes):
            return  # The box depends on the pose. A lost modifier is listed separately.
        words = [str(each.get("type")) for each in shapes]
        hull = any(kind in word for kind in _HULLS for word in words)
        yield HULL if hull else BOX, _rounded(chain(*was)), _rounded(chain(*now))

    def _keys(self, item: Item, other: Item) -> Iterator[tuple[str, Any, Any]]:
        source, far = self._source, self._far
        pace = far.fps / source.fps
        was, now = _frames(source, item.path), _frames(far, other.path)
        if not was and not now:
            return
        reported = [round(frame * pace, 3) for frame in was]
        if len(reported) != len(now) or any(
            abs(a - b) > _FRAME for a, b in zip(reported, now, strict=True)
        ):
            yield "keys", reported[:20], [round(frame, 3) for frame in now[:20]]
        there, here = source.keys.get(item.path), far.keys.get(other.path)
        if there is None or here is None:
            yield from self._first_pose(item, other, reported, now)
            self.unchecked.append(item.path)
            return
        by_frame = {round(number(key.get("frame")) or 0.0, 2): key for key in here}
        still = not any(source.objects[p].get("key_count") for p in source.above(item.path))
        for key in there:
            frame = (number(key.get("frame")) or 0.0) * pace
            match = by_frame.get(round(frame, 2))
            if match is None:
                continue
            if still:
                was_at, is_at = source.world(item.path, key), far.world(other.path, match)
                for what, a, b in _displaced(was_at, is_at):
                    yield f"{what} at {frame:g}", a, b
            if key.get("interpolation") != match.get("interpolation"):
                yield f"easing at {frame:g}", key.get("interpolation"), match.get("interpolation")

    def _first_pose(
        self, item: Item, other: Item, was: list[float], now: list[float]
    ) -> Iterator[tuple[str, Any, Any]]:
        """Compare the positions where both objects begin to move. Used when one side doesn't report
        the positions at its keys, because that side reports the first one as the object's
        position."""
        if was and now and abs(was[0] - now[0]) <= _FRAME:
            places = self._source.begins(item.path), self._far.begins(other.path)
            for what, a, b in _displaced(*places):
                yield f"{what} at {was[0]:g}", a, b

    def _parent(self, item: Item) -> str | None:
        for path in self._source.above(item.path):
            other = self._pairs.get(self._of_path[path]) if path in self._of_path else None
            if other is not None:
                return other.path
        return None

    def _far_parent(self, other: Item) -> str | None:
        known = {each.path for each in self._pairs.values()}
        return next((p for p in self._far.above(other.path) if p in known), None)

    # -- appearance -------------------------------------------------------------------------------

    def _looks(self, item: Item, other: Item) -> Iterator[tuple[str, Any, Any]]:
        source, far = self._source, self._far
        was, now = source.objects[item.shape], far.objects[other.shape]
        if was.get("type") in _SHAPES and now.get("type") != was.get("type"):
            yield "shape's own sizes", was["type"], now.get("type")
        shown = (source.objects[item.path].get("visible"), far.objects[other.path].get("visible"))
        if shown[0] != shown[1]:
            yield "visible", *shown
        if not _shades(vector(was.get("color")), vector(now.get("color"))):
            yield "color", was.get("color"), now.get("color")
        kinds, now_kinds = _modifiers(was), _modifiers(now)
        if _LINKED in now_kinds:
            yield "motion of the shape (linked to the file that is gone)", None, _LINKED
        if kinds and not set(now_kinds) - {_LINKED}:
            yield "modifiers", kinds, None
        lenses = [_numbers(each.get("lens")) for each in (was, now)]
        if item.shape not in source.cameras and not _close(*lenses):
            yield "lens", was["lens"], now.get("lens")
        yield from self._table(_CAMERA, source.cameras, far.cameras, item, other, "camera")
        yield from self._table(_LIGHT, source.lights, far.lights, item, other, "light")
        yield from self._materials(strings(was.get("materials")), strings(now.get("materials")))

    def _table(
        self,
        fields: Mapping[str, bool],
        there: Mapping[str, Json],
        here: Mapping[str, Json],
        item: Item,
        other: Item,
        kind: str,
    ) -> Iterator[tuple[str, Any, Any]]:
        was = next((there[path] for path in item.paths if path in there), None)
        now = next((here[path] for path in other.paths if path in here), None)
        if was is None:
            return
        if now is None:
            yield kind, was.get("kind", kind), None
            return
        for name in ("kind", "projection"):
            if was.get(name) != now.get(name):
                yield name, was.get(name), now.get(name)
        for name, length in fields.items():
            if name == "focus_distance" and not was.get("fstop"):
                continue  # Without depth of field, the distance has no effect.
            a, b = _numbers(was.get(name)), _numbers(now.get(name))
            factors = (self._source.metres, self._far.metres) if length else (1.0, 1.0)
            a, b = ([value * f for value in each] for each, f in zip((a, b), factors, strict=True))
            if not _close(a, b):
                yield f"{name}, in meters" if length else name, _single(a), _single(b)
        if not _shades(vector(was.get("color")), vector(now.get("color"))):
            yield f"{kind} color", was.get("color"), now.get("color")

    def _materials(self, was: list[str], now: list[str]) -> Iterator[tuple[str, Any, Any]]:
        if len(was) != len(now):
            yield "materials", was, now
        for there, here in zip(was, now, strict=False):
            a, b = self._source.materials.get(there), self._far.materials.get(here)
            if a is None or b is None:
                continue
            for name in _MATERIAL:
                if not _shades(_numbers(a.get(name)), _numbers(b.get(name))):
                    yield f"{name} of {there}", a.get(name), b.get(name)
            if not _shades(_shining(a), _shining(b)):
                yield f"emission of {there}", _shining(a), _shining(b)
            slots = [set(x["textures"]) for x in (a, b) if isinstance(x.get("textures"), dict)]
            if len(slots) == 2 and slots[0] != slots[1]:
                yield f"textures of {there}", sorted(slots[0]), sorted(slots[1])


def _modifiers(reported: Json) -> list[str]:
    listed = reported.get("modifiers")
    each = listed if isinstance(listed, list) else []
    return [str(modifier.get("type")) for modifier in each if isinstance(modifier, dict)]


def _frames(facts: SceneFacts, path: str) -> list[float]:
    if path in facts.keys:
        reported = [number(key.get("frame")) for key in facts.keys[path]]
        return [frame for frame in reported if frame is not None]
    return vector(facts.objects[path].get("keys")) or []


def _displaced(was: Rows, now: Rows) -> Iterator[tuple[str, Any, Any]]:
    """Yield the differences between two transforms. The allowed error grows with the length of the
    axes and, for the origin, also with its distance."""
    slack = _CLOSE * max(_SHORTEST, *(hypot(*row) for row in (*was[:3], *now[:3])))
    if dist(was[3], now[3]) > slack + _FAR_OFF * hypot(*was[3]):
        yield PLACE, _rounded(was[3]), _rounded(now[3])
    if any(dist(x, y) > slack for x, y in zip(was[:3], now[:3], strict=True)):
        yield AXES, _rounded(chain(*was[:3])), _rounded(chain(*now[:3]))


def _same_box(a: Box, b: Box) -> bool:
    slack = _CLOSE * max(dist(*a), _SHORTEST) + _FAR_OFF * max(hypot(*corner) for corner in a)
    return all(dist(x, y) <= slack for x, y in zip(a, b, strict=True))


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(value, 6) for value in values]


def _numbers(value: Any) -> list[float]:
    single = number(value)
    return (vector(value) or []) if single is None else [single]


def _shining(material: Mapping[str, Any]) -> list[float]:
    strength = number(material.get("emission_strength"))
    color = vector(material.get("emission")) or []
    return [value * (1.0 if strength is None else strength) for value in color]


def _single(values: list[float]) -> Any:
    rounded = [round(value, 6) for value in values]
    return rounded[0] if len(rounded) == 1 else rounded or None


def _close(a: list[float], b: list[float]) -> bool:
    # A value that the source doesn't report can't be compared.
    if not a:
        return True
    return len(a) == len(b) and all(
        abs(x - y) <= _CLOSE * max(abs(x), abs(y), 1e-3) for x, y in zip(a, b, strict=True)
    )


def _shades(a: list[float] | None, b: list[float] | None) -> bool:
    if not a:
        return True
    return (
        bool(b)
        and len(a) == len(b or ())
        and all(abs(x - y) <= _SHADE * max(1.0, abs(x)) for x, y in zip(a, b or (), strict=True))
    )
