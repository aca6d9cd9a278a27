"""Counts the faces that each material slot of an object has, and the points that each shape key
moves."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from math import sqrt
from operator import sub
from typing import Any

import bpy

from callboard.host import Json

#: Maximum number of faces that are counted, and of points of all shape keys together.
_MOST_FACES = 2_000_000
_MOST_POINTS = 1_500_000
#: Distances up to this aren't a move, but rounding.
_TINY = 1e-5
#: How many points are compared at once. Most shape keys leave most of them where they are.
_BLOCK = 128


def slot_faces(obj: bpy.types.Object) -> list[int] | None:
    """Return the number of faces for each material slot of a mesh. Return None for objects that
    aren't meshes, and for meshes with too many faces to be counted."""
    if obj.type != "MESH" or len(faces := obj.data.polygons) > _MOST_FACES:
        return None
    numbers = array("i", bytes(4 * len(faces)))
    faces.foreach_get("material_index", numbers)
    last = max(0, len(obj.material_slots) - 1)
    counts: Counter[int] = Counter()
    for number, count in Counter(numbers).items():
        counts[max(0, min(number, last))] += count  # Blender shows the last slot beyond it.
    return [counts[number] for number in range(last + 1)]


def shape_key_moves(obj: bpy.types.Object, most: int) -> Json:
    """Return ``{points, farthest, vertex_group?, why?}`` for each of at most ``most`` relative
    shape keys of a mesh or lattice, by its name. ``farthest`` is a distance in the object's own
    space. ``why`` says that the key moves nothing, or that the mesh is too heavy to tell."""
    keys = getattr(obj.data, "shape_keys", None)
    if keys is None or obj.type not in ("MESH", "LATTICE") or not keys.use_relative:
        return {}
    left, told = _MOST_POINTS, {}
    for key in keys.key_blocks[:most]:
        if key == keys.reference_key:
            continue
        left -= len(key.data)
        told[key.name] = _moves(obj, key) if left >= 0 else {"why": "too many points to compare"}
    return told


def _moves(obj: bpy.types.Object, key: Any) -> Json:
    moved = list(_moved(_places(key), _places(key.relative_key)))
    group = obj.vertex_groups.get(key.vertex_group) if key.vertex_group else None
    if group is not None:
        weight = _weights(obj, group.index)
        weighted = [(number, far * weight(number)) for number, far in moved]
    else:
        weighted = moved
    distances = [far for _, far in weighted if far > _TINY]
    entry: Json = {"points": len(distances), "farthest": max(distances, default=0.0)}
    if group is not None:
        entry["vertex_group"] = group.name
    if not distances:
        unweighted = f": its points have no weight in '{key.vertex_group}'" if moved else ""
        entry["why"] = f"it moves nothing{unweighted}"
    return entry


def _places(key: Any) -> array[float]:
    flat = array("f", bytes(12 * len(key.data)))
    key.data.foreach_get("co", flat)
    return flat


def _moved(now: array[float], before: array[float]) -> Iterator[tuple[int, float]]:
    """Yield the number of each point that differs, and how far it is away."""
    step = 3 * _BLOCK
    for start in range(0, len(now), step):
        if now[start : start + step].tobytes() == before[start : start + step].tobytes():
            continue
        parts = [*map(sub, now[start : start + step], before[start : start + step])]
        for at, (x, y, z) in enumerate(zip(parts[::3], parts[1::3], parts[2::3], strict=True)):
            if (square := x * x + y * y + z * z) > _TINY * _TINY:
                yield start // 3 + at, sqrt(square)


def _weights(obj: bpy.types.Object, group: int) -> Callable[[int], float]:
    points = obj.data.vertices if obj.type == "MESH" else obj.data.points

    def weight(number: int) -> float:
        return next((e.weight for e in points[number].groups if e.group == group), 0.0)

    return weight
