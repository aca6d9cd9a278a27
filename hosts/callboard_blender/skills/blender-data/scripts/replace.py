"""The tool of the ``blender-data`` skill that replaces data by other data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import expect
from callboard_blender.parts.comparison import Contents, Known, both_shown, differences
from callboard_blender.parts.data_blocks import NUMBERED, kind_named

#: What can be replaced.
_KINDS = (
    "materials",
    "images",
    "meshes",
    "curves",
    "node_groups",
    "textures",
    "actions",
    "fonts",
    "sounds",
    "worlds",
)
#: Maximum number of names in an answer, of paths in a reason, and of differences.
_MOST_NAMED, _MOST, _MOST_DIFFERENCES = 200, 5, 20


def replace(
    ctx: Any, kind: str, names: Sequence[str], by: str | None = None, only_identical: bool = False
) -> Json:
    ctx.port("scene.mutate")
    blocks, kind = ctx.port("structure").blocks, kind_named(kind)
    if kind not in _KINDS:
        raise WrongArgument(f"{kind} can't be replaced here; these can: {', '.join(_KINDS)}")
    pairs, kept = _replacing(blocks, kind, names, by)
    differs: Any = []
    known: Known = {}
    read: dict[str, Contents] = {}
    for name, other in [*pairs.items()]:
        before = Contents(blocks.find(kind, name), known)
        if other not in read:
            read[other] = Contents(blocks.find(kind, other), known)
        after = read[other]
        differing = [*differences(before.values, after.values)]
        if only_identical and (differing or before.left or after.left):
            del pairs[name]
            kept.append(
                {"name": name, "why": _why_kept(other, differing, [*before.left, *after.left])}
            )
        for path, *both in differing if name in pairs else ():
            was, now = both_shown(*both)
            differs.append({"of": name, "what": path or "type", "was": was, "now": now})
    # What replaces one may be replaced itself.
    ends = {name: _end(pairs, other) for name, other in pairs.items()}
    gone, changed = blocks.replace(kind, ends) if ends else ([], [])
    left = {each.name_full for each in blocks.of(kind)}.intersection(gone)
    expect(not left, "what is left", [], sorted(left))
    answer: Json = {"changed": changed, "removed": gone, "verified": True}
    if differs:
        answer["differs"] = differs[:_MOST_DIFFERENCES]
    if kept:
        answer |= {"kept": kept[:_MOST_NAMED], "kept_count": len(kept)}
    return answer


def _replacing(
    blocks: Any, kind: str, names: Sequence[str], by: str | None
) -> tuple[dict[str, str], Any]:
    """Return what is replaced, each with the name of what replaces it, and what can't be: without
    ``by``, copies such as X.001 are replaced by X."""
    only = None if by is None else blocks.find(kind, by)
    pairs: dict[str, str] = {}
    kept: Any = []
    for name in names:
        known = [each for each in blocks.matching(kind, name) if each != only]
        if not known:
            raise WrongArgument(f"'{by}' can't replace itself")
        for each in known:
            other = only or blocks.original(kind, each)
            if other is not None:
                pairs[each.name_full] = other.name_full
            elif NUMBERED.fullmatch(each.name) or name == each.name_full:
                kept.append(
                    {
                        "name": each.name_full,
                        "why": "there is nothing that it is a numbered copy of",
                    }
                )
    if not pairs:
        raise WrongArgument("none of these is a copy such as X.001 of an X that is there; give by")
    return pairs, kept


def _why_kept(other: str, differing: Any, left: Any) -> str:
    if not differing:
        return f"not all of it can be compared: {', '.join(left[:_MOST])}"
    paths = ", ".join(path or "type" for path, *_ in differing[:_MOST])
    more = f" and {len(differing) - _MOST} more" if len(differing) > _MOST else ""
    return f"it differs from '{other}' in {paths}{more}"


def _end(pairs: dict[str, str], name: str) -> str:
    while name in pairs:
        name = pairs[name]
    return name
