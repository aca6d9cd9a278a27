"""The rules for objects and their positions, based on data from the host's reader."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from callboard.content import Json
from callboard.skill import Fault

#: Default names that applications give to objects.
_DEFAULT = re.compile(
    r"(p?(cube|sphere|cylinder|cone|plane|torus|box|circle|grid|suzanne|icosphere)|ufsphere|object"
    r"|geo|mesh|group|null|empty|polysurface|curve|nurbs\w*|untitled|teapot|text|material)"
    r"([._ ]?\d+)?",
    re.IGNORECASE,
)
#: Maximum number of objects that are compared with their neighbors.
_MOST = 5000
#: Maximum number of squares of the ground in which a box is entered.
_SQUARES = 64
#: Maximum number of users of a missing file that are named in a finding.
_MOST_NAMED = 20
#: Sizes in meters: a whole scene is rarely smaller than the first or larger than the second.
_TINY, _HUGE = 0.001, 20_000.0


class Seen:
    """The objects read so far, for rules that compare several of them."""

    def __init__(self, port: Any, reader: Any) -> None:
        self._port, self._info, self._reader = port, reader.info(), reader
        self._up = "XYZ".index(self._info["up_axis"])
        self._objects: dict[str, Json] = {}
        self._meshes = set(port.meshes())

    def read(self, path: str) -> None:
        self._objects[path] = self._reader.get(path)

    def findings(self, rule: str) -> Iterator[Fault]:
        return _RULES[rule](self)

    def scale(self) -> Iterator[Fault]:
        meshes = {path: self._port.shared(path) for path in self._meshes}
        sharing = Counter(meshes.values())
        scales = {path: self._objects[path]["scale"] for path in meshes}
        scaled = [path for path in meshes if max(abs(each - 1) for each in scales[path]) > 1e-4]
        fixes = {path: self._port.fix("scale", path) for path in scaled}
        # Applying a scale hands it on to the children, so parents come first.
        for path in sorted(scaled, key=lambda each: len([*self._line(each)])):
            scale = scales[path]
            flips = min(scale) < 0
            if flips:
                why = f"its scale {_numbers(scale)} is negative, which flips faces and normals"
            else:
                why = f"its scale {_numbers(scale)} isn't applied to its mesh"
            if others := sharing[meshes[path]] - 1:
                why += f"; {_counted(others)} that mesh"
            fix = fixes[path]
            above = [each for each in self._line(path) if fixes.get(each)]
            if fix and above:
                why += f"; apply that of '{above[-1]}' first"
            if fix and self._meshes.intersection(self._objects[path]["children"]):
                why += "; its children take on an applied scale, so check them afterwards"
            yield Fault("scale", path, why, "warning" if flips else "hint", fix)

    def floating(self) -> Iterator[Fault]:
        up, boxes = self._up, self._boxes()
        touching = {path for pair in self._near(boxes) for path in pair}
        lowest = {
            path: low[up]
            for path, (low, _) in boxes.items()
            if low[up] > self._slack() and path not in touching
        }
        below = self._below(boxes, lowest)
        fallen: dict[str, float] = {}
        for path in sorted(lowest, key=lowest.__getitem__):
            tops = {each: boxes[each][1][up] - fallen.get(each, 0.0) for each in below[path]}
            on = max(tops, key=tops.__getitem__, default="")
            depth = lowest[path] - tops.get(on, 0.0)
            fix = self._lifted(path, -depth)
            if fix is not None:
                fallen[path] = depth
            gap = lowest[path] - (boxes[on][1][up] if on else 0.0)
            where = f"'{on}'" if on else "the ground"
            why = f"it touches nothing, {gap:.4g} above {where}"
            yield Fault("floating", path, why, "hint", fix)

    def _below(
        self, boxes: dict[str, tuple[list[float], list[float]]], lowest: dict[str, float]
    ) -> defaultdict[str, list[str]]:
        """Return, for each floating object, the objects between it and the ground."""
        up = self._up
        reaching = dict(boxes)
        for path in lowest:
            low, high = boxes[path]
            reaching[path] = ([0.0 if n == up else each for n, each in enumerate(low)], high)
        below: defaultdict[str, list[str]] = defaultdict(list)
        for pair in self._near(reaching):
            for path, other in (pair, pair[::-1]):
                if path in lowest and 0 < boxes[other][1][up] < lowest[path]:
                    below[path].append(other)
        return below

    def sunk(self) -> Iterator[Fault]:
        up = self._up
        for path, (low, high) in self._boxes().items():
            # The top of a floor is at the ground, so a floor isn't sunk.
            if low[up] < -self._slack() and abs(high[up]) > self._slack():
                reach = f"{-low[up]:.4g} below the ground"
                why = f"it reaches {reach}" if high[up] > 0 else f"all of it is up to {reach}"
                yield Fault("sunk", path, why, "hint", self._lifted(path, -low[up]))

    def interpenetrating(self) -> Iterator[Fault]:
        boxes = self._boxes()
        for one, other in self._near(boxes):
            share, depth = _shared(boxes[one], boxes[other])
            if depth > self._slack() and 0.02 < share < 0.98:
                why = f"its box and that of '{other}' share {share:.0%} of the smaller one"
                yield Fault("interpenetrating", one, why, "hint")

    def doubles(self) -> Iterator[Fault]:
        alike: defaultdict[Any, list[str]] = defaultdict(list)
        slack = self._slack() or 1e-6
        for path, corners in self._boxes().items():
            place = tuple(round(each / slack) for corner in corners for each in corner)
            alike[place, self._port.face_count(path)].append(path)
        for first, *others in alike.values():
            for path in others:
                fix = {"tool": "scene__delete", "arguments": {"names": [path]}}
                why = f"it has the same place, size and number of faces as '{first}'"
                yield Fault("doubles", path, why, "warning", fix)

    def default_names(self) -> Iterator[Fault]:
        for path, each in self._objects.items():
            if _DEFAULT.fullmatch(each["name"]):
                why = f"its default name '{each['name']}' doesn't describe it; choose another name"
                yield Fault("default_names", path, f"{why}, with scene__rename", "hint")

    def missing_files(self) -> Iterator[Fault]:
        for file in self._port.files():
            if file.missing and file.used:
                users = f"; objects that use it: {_some(file.objects)}" if file.objects else ""
                why = f"'{file.path}' is missing{users}"
                yield Fault("missing_files", file.object, why, "error")
            elif file.missing:
                why = f"'{file.path}' is missing, but nothing in the scene uses it"
                yield Fault("missing_files", file.object, why, "hint")

    def absolute_paths(self) -> Iterator[Fault]:
        for file in self._port.files():
            if file.absolute:
                why = f"the path of '{file.path}' is absolute"
                fix = self._port.fix("absolute_paths", file.path)
                for path in file.objects or (file.object,):
                    yield Fault("absolute_paths", path, why, "warning", fix)

    def no_material(self) -> Iterator[Fault]:
        for path in getattr(self._port, "surfaces", self._port.meshes)():
            if path in self._objects and not self._port.materials_of(path):
                yield Fault("no_material", path, "it has no material", "hint")

    def without_camera(self) -> Iterator[Fault]:
        """Yield the fault that a scene can't be rendered because it has no camera, in hosts that
        say which camera is the scene's."""
        if not self._objects or self._info.get("camera", "") is not None:
            return
        cameras = [path for path, each in self._objects.items() if each["type"] == "camera"]
        if cameras:
            why = "none of its cameras is the scene's camera, so it can't be rendered"
            wanted = {"name": cameras[0], "active": True}
            fix = {"tool": "cameras__set", "arguments": wanted}
        else:
            why = "the scene has no camera, so it can't be rendered; aim the new one with"
            why += " cameras__frame"
            fix = {"tool": "cameras__create", "arguments": {}}
        yield Fault("not_rendered", "", why, "hint", fix)

    def color_space(self) -> Iterator[Fault]:
        for file in self._port.files():
            if file.color_space == "":
                why = f"the color space of '{file.path}' isn't set"
                fix = self._port.fix("color_space", file.object)
                yield Fault("color_space", file.object, why, "warning", fix)

    def units(self) -> Iterator[Fault]:
        boxes, meter = self._boxes(), self._info["units_per_meter"]
        if not boxes:
            return
        low, high = zip(*boxes.values(), strict=True)
        sides = (
            max(axis) - min(rest)
            for axis, rest in zip(zip(*high, strict=True), zip(*low, strict=True), strict=True)
        )
        meters = max(sides) / meter
        if not _TINY < meters < _HUGE:
            why = f"all objects together are {meters:.3g} m large, at {meter:g} units per meter"
            yield Fault("units", "", why, "warning")

    def _boxes(self) -> dict[str, tuple[list[float], list[float]]]:
        """Return the low and high corners of the visible meshes' boxes."""
        reported = ((path, self._objects[path]) for path in self._objects if path in self._meshes)
        return {
            path: (each["bounds"]["min"], each["bounds"]["max"])
            for path, each in reported
            if each["bounds"] is not None and each["visible"]
        }

    def _slack(self) -> float:
        """Return a millimeter in scene units."""
        return float(self._info["units_per_meter"]) / 1000

    def _near(self, boxes: dict[str, tuple[list[float], list[float]]]) -> Iterator[tuple[str, str]]:
        """Yield pairs of objects whose boxes touch, unless one is an ancestor of the other. A box
        is only compared with those in the same squares of the ground, and with very wide ones."""
        slack = self._slack()
        ordered = sorted(boxes, key=lambda path: boxes[path][0][0])[:_MOST]
        across = [n for n in range(3) if n != self._up]
        sides = sorted(boxes[path][1][n] - boxes[path][0][n] for path in ordered for n in across)
        square = 2 * (sides[len(sides) // 2] + slack if sides else 0.0) or 1.0
        inside: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
        wide: list[int] = []
        for number, path in enumerate(ordered):
            low, high = boxes[path]
            spans = [((low[n] - slack) // square, (high[n] + slack) // square) for n in across]
            if prod(last - first + 1 for first, last in spans) <= _SQUARES:
                squares = [*product(*(range(int(a), int(b) + 1) for a, b in spans))]
                candidates = sorted({*wide, *(each for at in squares for each in inside[at])})
                for at in squares:
                    inside[at].append(number)
            else:
                candidates = [*range(number)]
                wide.append(number)
            for each in candidates:
                one = ordered[each]
                a, b = boxes[one]
                apart = any(a[n] > high[n] + slack or low[n] > b[n] + slack for n in range(3))
                if not apart and not self._related(one, path):
                    yield one, path

    def _related(self, one: str, other: str) -> bool:
        return other in self._line(one) or one in self._line(other)

    def _line(self, path: str) -> Iterator[str]:
        parent = self._objects[path]["parent"]
        while parent is not None and parent in self._objects:
            yield parent
            parent = self._objects[parent]["parent"]

    def _lifted(self, path: str, by: float) -> Json | None:
        """Return the call that moves the object up, or None if that isn't possible, or if the
        object has a parent, because the parent's axes may be rotated."""
        each = self._objects[path]
        if each["parent"] is not None:
            return None
        place = list(each["translate"])
        place[self._up] += by
        return transforming(self._port, path, translate=place)


def transforming(port: Any, path: str, **values: Sequence[float]) -> Json | None:
    """Return the call that sets these components of the object's transform, or None if the host
    wouldn't set them."""
    settable = getattr(port, "settable", None)
    if settable is not None and not all(settable(path, each) for each in values):
        return None
    return {"tool": "scene__transform", "arguments": {"name": path, **values}}


_RULES: dict[str, Callable[[Seen], Iterator[Fault]]] = {
    "scale": Seen.scale,
    "floating": Seen.floating,
    "sunk": Seen.sunk,
    "interpenetrating": Seen.interpenetrating,
    "doubles": Seen.doubles,
    "default_names": Seen.default_names,
    "missing_files": Seen.missing_files,
    "absolute_paths": Seen.absolute_paths,
    "no_material": Seen.no_material,
    "units": Seen.units,
    "color_space": Seen.color_space,
}
RULES = tuple(_RULES)


def _shared(
    a: tuple[list[float], list[float]], b: tuple[list[float], list[float]]
) -> tuple[float, float]:
    """Return the fraction of the smaller box that is inside the other one, and the depth of the
    overlap."""
    sides = [min(a[1][n], b[1][n]) - max(a[0][n], b[0][n]) for n in range(3)]
    if min(sides) <= 0:
        return 0.0, 0.0
    smaller = min(_volume(a), _volume(b))
    return (sides[0] * sides[1] * sides[2] / smaller if smaller else 0.0), min(sides)


def _some(names: Sequence[str]) -> str:
    left = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {left} more" if left > 0 else "")


def _counted(others: int) -> str:
    return "1 other object shares" if others == 1 else f"{others} other objects share"


def _volume(box: tuple[list[float], list[float]]) -> float:
    x, y, z = (high - low for low, high in zip(*box, strict=True))
    return x * y * z


def _numbers(values: list[float]) -> str:
    return ", ".join(f"{value:.4g}" for value in values)
