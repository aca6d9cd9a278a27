"""The tool of the ``blender-data`` skill that compares data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import in_slices
from callboard_blender.parts.comparison import (
    Contents,
    Known,
    Names,
    both_shown,
    contents_at,
    differences,
    mirrored,
    why_stopped,
)
from callboard_blender.parts.data_blocks import NUMBERED, kind_named

#: Maximum number of names in one group, of things that aren't compared, and of differences of one
#: from what it is named after.
_MOST, _MOST_LEFT, _FEW = 200, 20, 10


def compare(
    ctx: Any,
    kind: str,
    name: str | None = None,
    other: str | None = None,
    part: str | None = None,
    other_part: str | None = None,
    mirror: bool = False,
    pattern: str | None = None,
    offset: int = 0,
    limit: int = 100,
) -> Generator[None, None, Json]:
    blocks, kind = ctx.port("structure").blocks, kind_named(kind)
    if pattern is not None:
        if name or other or part or other_part or mirror:
            raise WrongArgument("give either pattern, or name and other")
        fitting = [each for each in blocks.of(kind) if fnmatchcase(each.name_full, pattern)]
        return (yield from in_slices(_grouped(blocks, kind, fitting, offset, limit)))
    if mirror and name and not (other or other_part):
        other, other_part = (name, mirrored(part)) if part else (mirrored(name), None)
    if name is None or (other is None and other_part is None):
        raise WrongArgument("give name and other, or pattern to compare all that fit it")
    pair = [(name, part), (other or name, other_part or part)]
    if pair[0] == pair[1]:
        raise WrongArgument(f"'{name}' would be compared with itself; name the other one")
    first, second = (contents_at(blocks.find(kind, each), at) for each, at in pair)
    wanted = _mirrored(first.values) if mirror else first.values
    was = dict(zip(wanted, first.values.values(), strict=True))
    differing = [*differences(wanted, second.values)]
    left = sorted({*first.left, *second.left})
    answer: Json = {
        "compared": [f"{each}: {at}" if at else each for each, at in pair],
        "identical": _identical(differing, left),
        "values": len(first.values),
        "differences": [
            _difference(path, was.get(path), other_value, expected)
            for path, expected, other_value in differing[offset : offset + limit]
        ],
        "total": len(differing),
    }
    return {**answer, "not_compared": left[:_MOST_LEFT]} if left else answer


def _mirrored(values: dict[str, Any]) -> dict[str, Any]:
    flipped = {mirrored(path): mirrored(each) for path, each in values.items()}
    if len(flipped) < len(values):
        raise WrongArgument("two of its parts have the same name when mirrored; leave mirror out")
    return flipped


def _difference(path: str, one: Any, other: Any, expected: Any) -> Json:
    told: Json = {"what": path or "type"}
    why = why_stopped(expected, other)
    if isinstance(expected, Names) and isinstance(other, Names):
        if why:
            counts = {"first": f"{len(expected)} entries", "second": f"{len(other)} entries"}
            return {**told, **counts, "not_compared": why}
        if {*expected} != {*other}:
            only = [name for name, mirror in zip(one, expected, strict=True) if mirror not in other]
            more = [name for name in other if name not in expected]
            return {**told, "only_in_first": only[:_MOST], "only_in_second": more[:_MOST]}
    told.update(zip(("first", "second"), both_shown(one, other), strict=True))
    # What both have in common is wrong if it names a side.
    if repr(expected) != repr(one):
        told["expected"] = both_shown(expected, other)[0]
    return {**told, "not_compared": why} if why else told


def _grouped(
    blocks: Any, kind: str, fitting: Any, offset: int, limit: int
) -> Generator[None, None, Json]:
    """Return the groups of equal datablocks, and those that equal no other one. Only what may be
    equal, or is numbered like a copy, is read as a whole."""
    rough: defaultdict[Any, Any] = defaultdict(list)
    for each in fitting:
        with suppress(ReferenceError):  # The datablock may have been removed by now.
            rough[_rough(each)].append(each)
        yield
    alike: defaultdict[Any, Any] = defaultdict(list)
    left: dict[Any, Any] = {}
    known: Known = {}
    for several in rough.values():
        for each in several:
            with suppress(ReferenceError):
                digest: Any = each.name_full
                if len(several) > 1:
                    contents = Contents(each, known)
                    digest = contents.digest()
                    left[digest] = contents.left[:_MOST_LEFT]
                alike[digest].append((each.name_full, each))
            yield
    groups: Any = []
    alone: Any = []
    for digest, equal in alike.items():
        equal.sort(key=lambda one: (len(one[0]), one[0]))
        names, told = [name for name, _ in equal], {}
        with suppress(ReferenceError):
            if len(names) > 1 or offset <= len(alone) < offset + limit:
                told = _beside_original(blocks, kind, equal[0][1], names, known)
        if len(names) == 1:
            alone.append({"name": names[0], **told})
        else:
            groups.append({**_group(names, left[digest]), **told})
        yield
    groups.sort(key=lambda one: (-one["count"], one["names"]))
    return {
        "groups": groups[offset : offset + limit],
        "total": len(groups),
        "compared": len(fitting),
        "alone": len(alone),
        "alone_are": alone[offset : offset + limit],
    }


def _group(names: Any, left: Any) -> Json:
    told = {"names": names[:_MOST], "count": len(names), "identical": _identical([], left)}
    return {**told, "not_compared": left} if left else told


def _beside_original(blocks: Any, kind: str, each: Any, names: Any, known: Known) -> Json:
    """Return how what is named like a copy differs from what it is named after."""
    if not NUMBERED.fullmatch(each.name):
        return {}
    original = blocks.original(kind, each)
    if original is None:
        return {"original": None}
    if original.name_full in names:
        return {}
    differing = [*differences(Contents(original, known).values, Contents(each, known).values)]
    told = [_difference(path, one, other, one) for path, one, other in differing[:_FEW]]
    return {"original": original.name_full, "differences": told, "differing": len(differing)}


def _rough(block: Any) -> Any:
    """Return something that is equal for equal datablocks, and that is read at once."""
    if hasattr(block, "matrix_basis"):
        return block.data, block.parent, tuple(block.location), tuple(block.scale)
    tree = getattr(block, "node_tree", None) or block
    return len(getattr(tree, "nodes", ())), len(getattr(block, "vertices", ()))


def _identical(differing: Any, left: Any) -> bool | None:
    """Return None if there is no difference in what was compared, but not all of it was."""
    return False if differing else None if left else True
