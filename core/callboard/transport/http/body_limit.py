"""The bound on what a body holds. Reading JSON keeps Python's lock and the server's loop, so bodies
of very many values are refused by a thread that keeps neither."""

from __future__ import annotations

import re

#: Bytes of a body that can't hold enough to keep anybody waiting.
LIGHT = 64 * 1024
#: Values of one body.
MOST_VALUES = 50_000
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def is_too_much(body: bytes) -> bool:
    """Whether a JSON body holds too many values, whatever stands in its texts. Any thread."""
    if body.count(b",") < MOST_VALUES:
        return False
    values = at = 0
    for text in _STRING.finditer(body):
        values += body.count(b",", at, text.start())
        if values >= MOST_VALUES:
            return True
        at = text.end()
    return values + body.count(b",", at) >= MOST_VALUES
