"""The ``find`` tool."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

from callboard.content import Json
from callboard.errors import WrongArgument
from callboard.skill import covered, in_slices

from ._pattern import is_pattern, matcher, parts_of

#: Seconds that one slice of a search holds the main thread.
SLICE = 0.005
#: Maximum number of objects that an answer names because of their modifiers.
_MOST_NAMED = 20
#: Filters, and the part of an object's entry that each needs.
_NEEDS = {
    "material": "details",
    "modifier": "details",
    "min_faces": "details",
    "max_faces": "details",
    "min_size": "get",
    "max_size": "get",
    "property": "whole",
    "constraint": "whole",
    "uses": "whole",
}
#: Filters that name data, and where an object's entry has the names.
_DATA = {"material": "materials", "uses": "uses"}
_SORTS = {"name": "", "faces": "details", "shown_faces": "details", "size": "get"}


def find(
    ctx: Any,
    pattern: str | None = None,
    type: str | None = None,
    used_by: str | None = None,
    sort: str | None = None,
    ascending: bool = False,
    limit: int = 100,
    **asked: Any,
) -> Generator[None, None, Json]:
    """Find objects in slices."""
    steps = _search(ctx, pattern, type, used_by, sort, ascending, limit, asked)
    return (yield from in_slices(steps, SLICE))


def _search(
    ctx: Any,
    pattern: str | None,
    type: str | None,
    used_by: str | None,
    sort: str | None,
    ascending: bool,
    limit: int,
    asked: Json,
) -> Generator[None, None, Json]:
    """Find objects, one per step. Facts that are expensive to read are read only for objects that
    pass the cheap filters."""
    reader = ctx.port("scene.read")
    needs = {_NEEDS[each] for each in asked} | ({_SORTS[sort]} - {""} if sort else set())
    if ("whole" in needs or used_by is not None) and not hasattr(reader, "whole"):
        raise WrongArgument(
            f"{ctx.host_identity.name} can't be searched by property, constraint, uses or used_by"
            " yet"
        )
    named = matcher(pattern) if pattern is not None else None
    only = None if used_by is None else _used(reader, used_by)
    called = {each: names for each in _DATA if (names := _called(reader, asked.get(each)))}
    fitting: list[Json] = []
    for summary in reader.summaries():
        yield
        if named is not None and not (named(summary["name"]) or summary["path"] == pattern):
            continue
        if type is not None and summary["type"] != type.lower():
            continue
        if only is not None and not _among(summary, only):
            continue
        entry = _read(reader, summary, needs) if needs else summary
        if entry is not None and _fits(entry, asked, called):
            fitting.append(entry)
    uncounted: list[str] = []
    if sort == "shown_faces":
        for entry in fitting:
            yield
            entry[sort] = _shown_faces(ctx, entry)
            if entry[sort] is None and ("faces" in entry or entry.get("modifiers")):
                uncounted.append(entry["path"])
    if sort is not None:
        fitting = [each for each in fitting if each.get(sort) is not None]
        fitting.sort(key=lambda each: each[sort], reverse=not ascending and sort != "name")
    shown = ("name", "path", "type", "parent", "faces", "shown_faces", "size")
    objects = [{k: each[k] for k in shown if k in each} for each in fitting[:limit]]
    if wanted := asked.get("constraint"):
        for entry, whole in zip(objects, fitting, strict=False):
            entry["constraints"] = [
                each for each in whole["constraints"] if _has_any(_words(each), wanted)
            ]
    if wanted := asked.get("modifier"):
        for entry in objects:
            yield
            entry["modifiers"] = _modifiers(reader, entry["path"], wanted)
    answer: Json = {"objects": objects, "total": len(fitting)}
    by_faces = sort == "faces" or not asked.keys().isdisjoint(("min_faces", "max_faces"))
    doubts = [_before_modifiers(reader, fitting) if by_faces else None, _not_counted(uncounted)]
    doubt = "; ".join(filter(None, doubts))
    return covered(reader, {**answer, "doubt": doubt} if doubt else answer)


def _before_modifiers(reader: Any, fitting: Sequence[Json]) -> str | None:
    """Return that these objects' modifiers aren't counted, or None if they have none."""
    modified = [each["path"] for each in fitting if each.get("modifiers")]
    if not modified:
        return None
    after = "geometry__info counts"
    if hasattr(reader, "shown_faces"):
        after = "sort shown_faces and geometry__info count"
    told = f"faces are counted before modifiers, which these have: {_named(modified)}"
    return f"{told}; {after} after them"


def _shown_faces(ctx: Any, entry: Json) -> int | None:
    """Return how many faces the entry's object shows, or None if that isn't known."""
    count = getattr(ctx.port("scene.read"), "shown_faces", None)
    if not entry.get("modifiers") and (count is None or "faces" in entry):
        return entry.get("faces")
    if count is None:
        raise WrongArgument(
            f"{ctx.host_identity.name} can't sort by shown_faces yet; sort faces, and ask"
            " geometry__info about those with modifiers"
        )
    try:
        faces: int | None = count(entry["path"])
    except LookupError:
        return None
    return faces


def _not_counted(paths: Sequence[str]) -> str | None:
    """Return that these objects aren't counted, or None if there are none."""
    if not paths:
        return None
    return f"not evaluated, as in a hidden collection, so not counted: {_named(paths)}"


def _named(paths: Sequence[str]) -> str:
    names = ", ".join(paths[:_MOST_NAMED])
    return f"{names} and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else names


def _modifiers(reader: Any, path: str, wanted: str) -> list[Json]:
    """Return the object's modifiers of that type or name, with their settings if the host has
    them."""
    read = getattr(reader, "whole", None) or reader.details
    try:
        entry = read(path)
    except LookupError:
        return []
    return [each for each in entry["modifiers"] if _has_any(_words(each), wanted)]


def _called(reader: Any, word: str | None) -> set[str]:
    """Return the full names of the data with that name, or an empty set if that isn't known or the
    word is a pattern. Raises HostError when nothing has that name."""
    if word is None or is_pattern(word) or not hasattr(reader, "called"):
        return set()
    return set(reader.called(word))


def _used(reader: Any, name: str) -> set[str]:
    whole: Json = reader.whole(name)
    return set(whole["uses"])


def _among(summary: Json, names: set[str]) -> bool:
    return summary["path"] in names or summary["name"] in names


def _read(reader: Any, summary: Json, needs: set[str]) -> Json | None:
    """Return the entry with the needed parts, or None if the object is gone."""
    path, entry = summary["path"], dict(summary)
    try:
        if "details" in needs and hasattr(reader, "details"):
            entry.update(reader.details(path))
        if "get" in needs:
            box = reader.get(path)["bounds"]
            ends = zip(box["min"], box["max"], strict=True) if box else ()
            entry["size"] = max((high - low for low, high in ends), default=None)
        if "whole" in needs:
            entry.update(reader.whole(path))
    except LookupError:
        return None
    return entry


def _fits(entry: Json, asked: Json, called: dict[str, set[str]]) -> bool:
    """Return whether the entry fits what is asked. ``called`` has the full names of the data that a
    filter asks for, if they are known."""
    return all(
        not called[key].isdisjoint(entry.get(_DATA[key], ()))
        if key in called
        else _CHECKS[key](entry, value)
        for key, value in asked.items()
    )


def _has_any(names: Iterable[str], wanted: str) -> bool:
    """Return whether ``wanted``, which may be a pattern, matches one of the names or a part of one
    that names the same data."""
    fits = matcher(wanted)
    return any(fits(each) for name in names for each in parts_of(name))


def _words_of(entry: Json, key: str) -> Sequence[str]:
    return [word for each in entry.get(key, ()) for word in _words(each)]


def _words(each: Json) -> tuple[str, str]:
    """Return the type and the name of a modifier or constraint."""
    return each["type"], each["name"]


def _at_least(key: str) -> Callable[[Json, float], bool]:
    return lambda entry, value: entry.get(key) is not None and entry[key] >= value


def _at_most(key: str) -> Callable[[Json, float], bool]:
    return lambda entry, value: entry.get(key) is not None and entry[key] <= value


_CHECKS: dict[str, Callable[[Json, Any], bool]] = {
    "material": lambda entry, value: _has_any(entry.get("materials", ()), value),
    "modifier": lambda entry, value: _has_any(_words_of(entry, "modifiers"), value),
    "constraint": lambda entry, value: _has_any(_words_of(entry, "constraints"), value),
    "min_faces": _at_least("faces"),
    "max_faces": _at_most("faces"),
    "min_size": _at_least("size"),
    "max_size": _at_most("size"),
    "property": lambda entry, value: _has_any(entry.get("properties", ()), value),
    "uses": lambda entry, value: _has_any(entry["uses"], value),
}
