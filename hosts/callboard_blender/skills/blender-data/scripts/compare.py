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
from callboard_blender.parts.comparison import Contents, Known, both_shown, contents_at, differences

#: Maximum number of names in one group, and of things that aren't compared.
_MOST, _MOST_LEFT = 200, 20


def compare(
    ctx: Any,
    kind: str,
    name: str | None = None,
    other: str | None = None,
    part: str | None = None,
    other_part: str | None = None,
    pattern: str | None = None,
    offset: int = 0,
    limit: int = 100,
) -> Generator[None, None, Json]:
    blocks = ctx.port("structure").blocks
    if pattern is not None:
        if name or other or part or other_part:
            raise WrongArgument("give either pattern, or name and other")
        fitting = [each for each in blocks.of(kind) if fnmatchcase(each.name_full, pattern)]
        return (yield from in_slices(_grouped(fitting, offset, limit)))
    if name is None or (other is None and other_part is None):
        raise WrongArgument("give name and other, or pattern to compare all that fit it")
    pair = [(name, part), (other or name, other_part or part)]
    if pair[0] == pair[1]:
        raise WrongArgument(f"'{name}' would be compared with itself")
    first, second = (contents_at(blocks.find(kind, each), at) for each, at in pair)
    differing = [*differences(first, second)]
    left = sorted({*first.left, *second.left})
    answer: Json = {
        "compared": [f"{each}: {at}" if at else each for each, at in pair],
        "identical": _identical(differing, left),
        "values": len(first.values),
        "differences": [
            {
                "what": path or "type",
                **dict(zip(("first", "second"), both_shown(*two), strict=True)),
            }
            for path, *two in differing[offset : offset + limit]
        ],
        "total": len(differing),
    }
    return {**answer, "not_compared": left[:_MOST_LEFT]} if left else answer


def _grouped(fitting: Any, offset: int, limit: int) -> Generator[None, None, Json]:
    """Return the groups of equal datablocks. Only what may be equal is read as a whole."""
    rough: defaultdict[Any, Any] = defaultdict(list)
    for each in fitting:
        with suppress(ReferenceError):  # The datablock may have been removed by now.
            rough[_rough(each)].append(each)
        yield
    alike: defaultdict[bytes, Any] = defaultdict(list)
    left: dict[bytes, Any] = {}
    known: Known = {}
    for several in rough.values():
        for each in several if len(several) > 1 else ():
            with suppress(ReferenceError):
                contents = Contents(each, known)
                digest = contents.digest()
                alike[digest].append(each.name_full)
                left[digest] = contents.left[:_MOST_LEFT]
            yield
    groups = [
        {
            "names": sorted(names, key=lambda one: (len(one), one))[:_MOST],
            "count": len(names),
            "identical": _identical([], left[digest]),
            **({"not_compared": left[digest]} if left[digest] else {}),
        }
        for digest, names in alike.items()
        if len(names) > 1
    ]
    groups.sort(key=lambda one: (-one["count"], one["names"]))
    return {
        "groups": groups[offset : offset + limit],
        "total": len(groups),
        "compared": len(fitting),
        "alone": len(fitting) - sum(each["count"] for each in groups),
    }


def _rough(block: Any) -> Any:
    """Return something that is equal for equal datablocks, and that is read at once."""
    if hasattr(block, "matrix_basis"):
        return block.data, block.parent, tuple(block.location), tuple(block.scale)
    tree = getattr(block, "node_tree", None) or block
    return len(getattr(tree, "nodes", ())), len(getattr(block, "vertices", ()))


def _identical(differing: Any, left: Any) -> bool | None:
    """Return None if there is no difference in what was compared, but not all of it was."""
    return False if differing else None if left else True
