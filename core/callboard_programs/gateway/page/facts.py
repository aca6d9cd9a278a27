"""The parts of an instance's snapshot that the page uses. Everything else is left out. Values of
the wrong type are replaced with empty ones, long texts and lists are cut, and numbers out of range
become 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.protocol.jsonrpc import encode

#: Maximum number of characters in a string, entries in a list, and bytes of all parts together.
MOST_TEXT, MOST_ENTRIES, MOST_BYTES = 2_000, 200, 2 * 1024 * 1024
#: Numbers farther from zero than this are treated as 0.
_FARTHEST = 1e15

_TEXT, _NUMBER, _FLAG, _OBJECT = "text", "number", "flag", "object"
_ROOT = {"name": _TEXT, "path": _TEXT, "uri": _TEXT, "source": _TEXT, "read_only": _FLAG}
_SHAPE: Mapping[str, Any] = {
    "host": _TEXT,
    "version": _TEXT,
    "scene": _TEXT,
    "paused": _FLAG,
    "stalled_ms": _NUMBER,
    "stalled_by": _TEXT,
    "roots": [_ROOT],
    "roots_policy": _TEXT,
    "capabilities": [
        {"name": _TEXT, "offered": _FLAG, "withdrawn": _FLAG, "unlocks": _NUMBER}
        | {"plug_in": _TEXT, "advice": _TEXT}
    ],
    "clients": [
        {"id": _TEXT, "name": _TEXT, "version": _TEXT, "holder": _TEXT}
        | {"roots": [_ROOT], "problem": _TEXT}
    ],
    "calls": [
        {"id": _TEXT, "tool": _TEXT, "client": _TEXT, "state": _TEXT, "started": _NUMBER}
        | {"done": _NUMBER, "total": _NUMBER, "message": _TEXT, "held_by": _TEXT}
    ],
    "questions": [
        {"id": _TEXT, "tool": _TEXT, "client": _TEXT, "holder": _TEXT, "why": _TEXT}
        | {"deadline": _NUMBER, "arguments": _OBJECT, "subject": _TEXT, "choices": [_TEXT]}
    ],
    "changes": [
        {"call": _TEXT, "tool": _TEXT, "client": _TEXT, "started": _NUMBER, "words": _TEXT}
        | {"undo": _FLAG, "undone": _FLAG, "failed": _FLAG}
    ],
    "ended": _NUMBER,
}


def shaped(reported: Json) -> Json:
    """Return the parts of a snapshot that the page gets. Long texts and lists are cut, and numbers
    out of range become 0. Raises HostError if all parts together are too large."""
    status: Json = _shaped(reported, _SHAPE)
    try:
        size = len(encode(status))
    except ValueError:
        raise HostError("its status can't be written as JSON") from None
    if size > MOST_BYTES:
        raise HostError(f"its status has more than {MOST_BYTES} bytes")
    return status


def _shaped(value: Any, shape: Any) -> Any:
    if isinstance(shape, list):
        entries = value[:MOST_ENTRIES] if isinstance(value, list) else ()
        kind = str if shape[0] == _TEXT else dict
        return [_shaped(one, shape[0]) for one in entries if isinstance(one, kind)]
    if isinstance(shape, Mapping):
        return {name: _shaped(value.get(name), inner) for name, inner in shape.items()}
    if shape == _TEXT:
        return value[:MOST_TEXT] if isinstance(value, str) else ""
    if shape == _NUMBER:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return value if number and -_FARTHEST < value < _FARTHEST else 0
    if shape == _FLAG:
        return value is True
    return value if isinstance(value, dict) else None
