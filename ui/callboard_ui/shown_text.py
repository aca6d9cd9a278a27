"""Turns values from outside into text that an artist can trust. Invisible characters, and those
that change the reading direction, are written as escapes, and nothing is formatted."""

from __future__ import annotations

import json
import time
import unicodedata
from typing import Any

#: Maximum number of characters of a value that are shown. If there are more, the last line
#: shows how many more.
MOST = 200_000


def visible(text: str) -> str:
    """Return ``text`` with control, format and private characters written as escapes. Line endings
    and tabs are kept."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c in "\n\t" or unicodedata.category(c)[0] != "C" else _escaped(c) for c in text
    )


def one_line(text: str) -> str:
    """Return the visible form of ``text`` on one line."""
    return " ".join(visible(text).split())


def _indented(value: Any) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    # JSON escapes line ends. ``visible`` escapes the rest.
    return visible(text)


def arguments_text(arguments: Any) -> str:
    """Return a call's arguments as text. Code comes last, as the host would run it. Everything
    after the heading for code is code, no matter what it looks like."""
    code = code_of(arguments)
    if code is None:
        return _indented(arguments)
    others = {name: value for name, value in arguments.items() if name != "code"}
    return f"{_indented(others)}\n\ncode:\n{code}" if others else code


def shown(value: Any) -> str:
    """Return the value's text up to the limit, then the number of further characters."""
    text = arguments_text(value)
    if len(text) <= MOST:
        return text
    return f"{text[:MOST]}\n… {len(text) - MOST:,} more characters are not shown"


def code_of(arguments: Any) -> str | None:
    """Return the code in a call's arguments, or None if there is none."""
    code = arguments.get("code") if isinstance(arguments, dict) else None
    return visible(code.replace("\r\n", "\n")) if isinstance(code, str) else None


def duration(ms: float | None) -> str:
    """Return a length of time as short text, such as 12.3 s or 2 min 5 s."""
    if ms is None:
        return ""
    if ms < 1:
        return "<1 ms"
    if ms < 1000:
        return f"{ms:.0f} ms"
    seconds = ms / 1000
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def clock(when: float) -> str:
    """Return the local time of day, with the date unless it is today."""
    then = time.localtime(when)
    today = then[:3] == time.localtime()[:3]
    return time.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M:%S", then)


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
