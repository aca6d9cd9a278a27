"""References inside a batch call, from one of its calls to the result of an earlier one.

``{"$result": 0, "path": "object.path"}`` is replaced by the value at that path in the structured
result of the first call. Without ``path``, the reference is replaced by the whole result. ``path``
consists of object keys and array positions joined by dots, and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from callboard.content import Json
from callboard.errors import SkillError
from callboard.ports.capability_names import SCRIPT
from callboard.workspace.fields import PathFields

KEY = "$result"


class BadReference(SkillError):
    """The reference doesn't name an earlier call, leads nowhere, or isn't allowed where it is
    used."""


def is_reference(value: Any) -> bool:
    return isinstance(value, dict) and KEY in value and set(value) <= {KEY, "path"}


def refers(value: Any) -> bool:
    """Return whether ``value`` contains a reference anywhere."""
    if is_reference(value):
        return True
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(refers(item) for item in items)


def require_no_code(tool: str, capabilities: Sequence[str], value: Any, index: int) -> None:
    """Raise BadReference when call ``index`` runs code and contains a reference."""
    if SCRIPT in capabilities and refers(value):
        raise BadReference(
            f"call {index}: {tool} runs code, so none of its arguments can be a {KEY}: a name or "
            "text from the scene would run unseen; write the values out, or call it separately"
        )


def require_shown(calls: Sequence[Json], asked: Collection[str]) -> None:
    """Raise BadReference when the artist is about to be asked about one of these tools and would
    see a reference in place of the value that the tool gets."""
    for index, call in enumerate(calls):
        if call["tool"] in asked and refers(call["arguments"]):
            raise BadReference(
                f"call {index}: the artist is asked about {call['tool']} and sees what it will "
                f"run with, so none of its arguments can be a {KEY}; write the values out, or "
                "make it a separate call after this batch"
            )


def check_references(value: Any, index: int, paths: PathFields | None) -> None:
    """Raise BadReference when call ``index`` refers to a call that isn't before it, or uses a
    reference for a path. Paths are checked, and shown to the artist, before anything runs."""
    if is_reference(value):
        number, way = value[KEY], value.get("path", "")
        if type(number) is not int or not 0 <= number < index or not isinstance(way, str):
            raise BadReference(
                f"call {index}: {{'{KEY}': n}} must name an earlier call, 0 to {index - 1}"
                if index
                else f"call 0: no call comes before it, so it can't use a {KEY}"
            )
        if paths:
            raise BadReference(
                f"call {index}: a file's path can't be a {KEY}; write the path out, because the "
                "artist sees it before anything runs"
            )
    elif isinstance(value, dict):
        below = {} if paths is None else paths.properties
        for name, item in value.items():
            check_references(item, index, below.get(name))
    elif isinstance(value, list):
        for item in value:
            check_references(item, index, None if paths is None else paths.items)


def resolve_references(value: Any, answered: Sequence[Any]) -> Any:
    """Return a copy with each reference replaced. Raises BadReference when a reference leads
    nowhere."""
    if is_reference(value):
        return _look_up(value, answered)
    if isinstance(value, dict):
        return {name: resolve_references(item, answered) for name, item in value.items()}
    if isinstance(value, list):
        return [resolve_references(item, answered) for item in value]
    return value


def _look_up(reference: Any, answered: Sequence[Any]) -> Any:
    value = answered[reference[KEY]]
    for key in filter(None, reference.get("path", "").split(".")):
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            there = list(value)[:20] if isinstance(value, dict) else type(value).__name__
            raise BadReference(
                f"the result of call {reference[KEY]} has no '{key[:80]}'; found {there}"
            )
    return value
