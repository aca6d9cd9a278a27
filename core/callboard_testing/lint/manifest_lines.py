"""Finds the line of each part of a bundle's ``manifest.json``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
#: Keys and indexes, from the manifest's top.
Place = tuple[str | int, ...]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
#: The depth down to which lines are known. A deeper place has the line of its nearest known parent.
_DEPTH = 6
#: A field as messages name it: ``server.mcp_config.args``, ``user_config['key'].type``.
_FIELD = re.compile(r"\w+(?:\.\w+|\['[^']*'\])*")
_PART = re.compile(r"\['([^']*)'\]|(\w+)")


class ManifestLines:
    """The lines of one manifest, counted from 1. If the manifest isn't JSON, every place in it has
    the line of the error."""

    def __init__(self, folder: Path) -> None:
        self.value: Any = None
        self._lines: Mapping[Place, int] = {}
        try:
            text = (folder / MANIFEST).read_text("utf-8-sig")
            self.value = json.loads(text)
            self._lines = dict(_places(text))
        except json.JSONDecodeError as error:
            self._lines = {(): error.lineno}
        except (OSError, ValueError, RecursionError):
            return

    def __contains__(self, place: Place) -> bool:
        return place in self._lines

    def line(self, *place: str | int) -> int:
        """Return the line of a place, or of its nearest parent if the place doesn't exist."""
        known = (place[:length] for length in range(len(place), -1, -1))
        return next((self._lines[one] for one in known if one in self._lines), 1)

    def at(self, *place: str) -> dict[str, Any]:
        """Return the object at that place, or an empty one if there is no object."""
        value = _at(self.value, place)
        return value if isinstance(value, dict) else {}

    def line_with(self, text: str, *below: str) -> int:
        """Search the values below a place. Return the line of the first that contains the text,
        or the place's own line if none does."""
        for place, value in _texts(_at(self.value, below), below):
            if text in value:
                return self.line(*place)
        return self.line(*below)


def field_of(message: str) -> Place:
    """Return the field with which a message about a manifest begins."""
    named = _FIELD.match(message)
    parts = _PART.findall(named[0]) if named else ()
    return tuple(quoted or plain for quoted, plain in parts)


def _places(text: str) -> Iterator[tuple[Place, int]]:
    """Yield each place in a JSON text, and its line. The line of a place is the line of its key."""
    place: list[Any] = []
    lists: list[bool] = []
    at_key, number, end = False, 1, 0
    for token in _TOKEN.finditer(text):
        number += text.count("\n", end, token.start())
        end, word = token.start(), token[0]
        if word in "]}":
            place.pop()
            lists.pop()
            at_key = False
        elif word == ",":
            at_key = not lists[-1]
            place[-1] += 1 if lists[-1] else ""
        elif at_key:
            place[-1], at_key = json.loads(word), False
            if len(place) <= _DEPTH:
                yield tuple(place), number
        elif word != ":":
            if not place or (lists[-1] and len(place) <= _DEPTH):
                yield tuple(place), number
            if word in "[{":
                lists.append(word == "[")
                place.append(0 if lists[-1] else "")
                at_key = not lists[-1]


def _at(value: Any, place: Place) -> Any:
    for key in place:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _texts(value: Any, place: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, (dict, list)):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in inside:
            yield from _texts(one, (*place, key))
