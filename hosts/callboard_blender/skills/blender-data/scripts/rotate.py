"""The tool of the ``blender-data`` skill that turns objects in the world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import expect_that
from callboard_blender.application.names import find, tree
from callboard_blender.parts.world import causes, doubt, world_json, world_of

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
#: Maximum number of objects in an answer.
_MOST_NAMED = 200
#: Maximum deviation, as a part of an axis's length, and of a place in scene units.
_NEAR = 1e-4


def rotate(
    ctx: Any,
    objects: Sequence[str],
    angle: float,
    axis: str | Sequence[float] = "z",
    about: Sequence[float] | None = None,
    space: str = "world",
) -> Json:
    vector = _AXES[axis] if isinstance(axis, str) else axis
    if not any(vector):
        raise WrongArgument("axis must not be [0, 0, 0]")
    chosen = dict.fromkeys(find(each) for each in objects)
    tops = [obj for obj in chosen if chosen.keys().isdisjoint(_above(obj))]
    turned = [obj.name_full for obj in tops]
    followed = [below.name_full for obj in tops for below in tree(obj)[1:]]
    wanted = ctx.port("scene.mutate").turn(turned, vector, angle, about, space == "local")
    asked = {"rotate"} if about is None else {"rotate", "translate"}
    doubts = []
    for path, matrix in wanted.items():
        obj = find(path)
        who = " and ".join(causes(obj)) or "something else"
        right = _same(matrix, world_of(obj))
        expect_that(right, f"'{path}' isn't turned like that, because of {who}")
        doubted = doubt(obj)
        if asked.intersection(doubted.get("doubtful", ())):
            doubts.append(f"'{path}': {doubted['doubt']}")
    answer: Json = {
        "changed": turned,
        "verified": not doubts,
        "objects": [
            {"path": each, "world": world_json(find(each))} for each in turned[:_MOST_NAMED]
        ],
    }
    if doubts:
        answer["doubt"] = "; ".join(doubts[:_MOST_NAMED])
    return {**answer, "followed": followed[:_MOST_NAMED]} if followed else answer


def _above(obj: Any) -> Iterator[Any]:
    while (obj := obj.parent) is not None:
        yield obj


def _same(wanted: Any, now: Any) -> bool:
    """Return whether two world transforms are the same. Each axis is compared by its length, so
    that small objects are held to their size."""
    pairs = zip(wanted.to_3x3().col, now.to_3x3().col, strict=True)
    place = wanted.translation
    return all((a - b).length <= _NEAR * a.length for a, b in pairs) and (
        (place - now.translation).length <= _NEAR * max(1.0, place.length)
    )
