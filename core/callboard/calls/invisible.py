"""Finds characters that a model sees but a human reader doesn't.

In the name of an object, or in a file, they can carry a message to an agent that the artist never
notices. Answers show them as ⟨U+200B⟩. Arguments may use the same notation, so that objects with
such names can still be named.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

#: A pattern as a string, which re compiles when it is first used. Most servers never use it.
_INVISIBLE = (
    "["
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"  # fillers and soft hyphens
    "\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f"  # zero width, or changing the direction
    "\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags, and variations beyond those of emoji
    "]"
    # These two join emoji and distinguish them from text. Each is allowed once, after an emoji.
    "|(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d"
    "|(?<![#*0-9\u00a9\u00ae\u2000-\u3300\U0001f000-\U0001faff])\ufe0f"
)
_HOLDS_TEXT = (str, dict, list)
_HALF = "[\ud800-\udfff]"
_SHOWN = "⟨U\\+([0-9A-F]{4,6})⟩"


def hides(text: str) -> bool:
    """Return whether ``text`` contains an invisible character."""
    return not text.isascii() and re.search(_INVISIBLE, text) is not None


def shown(value: Any) -> Any:
    """Return a JSON value with the invisible characters in its strings and keys made visible."""
    if isinstance(value, str):
        return re.sub(_INVISIBLE, _escape, value) if hides(value) else value
    if isinstance(value, dict):
        return {shown(key): shown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shown(item) for item in value]
    return value


def meant(value: Any) -> Any:
    """Return arguments with the notation of :func:`shown` turned back into characters."""
    if isinstance(value, str):
        return re.sub(_SHOWN, _unescape, value) if "⟨U+" in value else value
    # Every argument of every call passes through here, so values that can't contain text are left
    # alone.
    if isinstance(value, dict):
        return {k: meant(v) if isinstance(v, _HOLDS_TEXT) else v for k, v in value.items()}
    if isinstance(value, list):
        return [meant(item) if isinstance(item, _HOLDS_TEXT) else item for item in value]
    return value


def half_a_character(value: Any) -> bool:
    """Return whether a string or a key in a JSON value contains half a surrogate pair, which no
    application accepts."""
    if isinstance(value, str):
        return not value.isascii() and re.search(_HALF, value) is not None
    if isinstance(value, dict):
        return any(
            half_a_character(k) or (isinstance(v, _HOLDS_TEXT) and half_a_character(v))
            for k, v in value.items()
        )
    if isinstance(value, list):
        return any(isinstance(item, _HOLDS_TEXT) and half_a_character(item) for item in value)
    return False


def _escape(matched: re.Match[str]) -> str:
    return f"⟨U+{ord(matched[0]):04X}⟩"


def _unescape(matched: re.Match[str]) -> str:
    return _character(matched[1]) or matched[0]


@lru_cache(256)
def _character(digits: str) -> str | None:
    """Return an invisible character by its number, or None for any other."""
    code = int(digits, 16)
    # Only invisible characters can be written in this notation.
    character = chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else ""
    return character if character and re.fullmatch(_INVISIBLE, character) else None
