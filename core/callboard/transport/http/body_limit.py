"""The limit on the number of values in a body. Reading JSON holds Python's lock and blocks the
server's loop. Counting values in a thread does neither, so bodies with very many values are refused
before they are parsed."""

from __future__ import annotations

import re

#: A body of at most this many bytes can't contain enough values to matter.
LIGHT = 64 * 1024
#: Maximum number of larger bodies from one client that may be under way at once.
MOST_LARGE = 32
#: Maximum number of values in one body.
MOST_VALUES = 50_000
_NOTATION = ("⟨U+".encode(), rb"\u27e8U+", rb"\u27E8U+")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def is_too_much(body: bytes) -> bool:
    """Return whether a JSON body contains too many values, or too many characters in the notation
    of ``calls/invisible.py``. Commas inside strings don't count. Call it from any thread."""
    if sum(map(body.count, _NOTATION)) >= MOST_VALUES:
        return True
    if body.count(b",") < MOST_VALUES:
        return False
    values = at = 0
    for text in _STRING.finditer(body):
        values += body.count(b",", at, text.start())
        if values >= MOST_VALUES:
            return True
        at = text.end()
    return values + body.count(b",", at) >= MOST_VALUES
