"""Generates malicious values, and good values with small faults. The same seed makes the same
values."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

TEXTS = (
    *("", " ", "\0", "..", "../", "../../etc/passwd", "x" * 300, "\ud800", "\u202e", "\U000e0041"),
    *("workspace://a", "workspace://../a", "file:///etc/passwd", "C:\\x", "\\\\h\\s", "~", "$HOME"),
    *("%2e%2e%2f", "null", "true", "1e999", "{{x}}", "{{", "<script>", "a\r\nX: y", "__proto__"),
    *("tools/call", "initialize", "2025-11-25", "2026-07-28", "ping", "notifications/x", "scene"),
)
NUMBERS = (0, -1, 1, 2**31, 2**63, -(2**63) - 1, 2**70, 0.5, -0.0, 1e308)


def value(random: Random, depth: int = 0) -> Any:
    """Return a value that JSON can represent."""
    kind = random.randrange(8 if depth < 4 else 5)
    if kind == 0:
        return random.choice((None, True, False))
    if kind == 1:
        return random.choice(NUMBERS)
    if kind < 5:
        return text(random)
    if kind == 5:
        return [value(random, depth + 1) for _ in range(random.randrange(4))]
    return {text(random): value(random, depth + 1) for _ in range(random.randrange(4))}


def text(random: Random) -> str:
    if random.random() < 0.7:
        return random.choice(TEXTS)
    return "".join(chr(random.choice((random.randrange(128), random.randrange(0xFFFF))))
                   for _ in range(random.randrange(12)))  # fmt: skip


def spoiled(random: Random, good: Any) -> Any:
    """Return a copy of a JSON value with one or a few of its parts changed, removed or added."""
    bad = copy.deepcopy(good)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        bad = _changed(random, bad)
    return bad


def _changed(random: Random, whole: Any) -> Any:
    at, above, key = whole, None, None
    while isinstance(at, (dict, list)) and at and random.random() < 0.8:
        above, key = at, random.choice(list(at) if isinstance(at, dict) else range(len(at)))
        at = at[key]
    if above is None:
        if isinstance(at, dict):
            at[text(random)] = value(random)
            return at
        return value(random)
    kind = random.randrange(4)
    if kind == 0:
        del above[key]
    elif kind == 1 and isinstance(above, dict):
        above[text(random)] = above.pop(key)
    else:
        above[key] = value(random)
    return whole


def spoiled_bytes(random: Random, good: bytes) -> bytes:
    """Return the bytes with some changed, cut, doubled or inserted."""
    bad = bytearray(good)
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(len(bad) + 1)
        kind = random.randrange(5)
        if kind == 0 and bad:
            bad[at % len(bad)] = random.randrange(256)
        elif kind == 1:
            bad[at:at] = random.randbytes(random.randrange(1, 9))
        elif kind == 2:
            del bad[at : at + random.randrange(1, 20)]
        elif kind == 3:
            bad[at:at] = bad[at : at + random.randrange(1, 60)]
        else:
            bad[at:at] = random.choice(TEXTS).encode("utf-8", "surrogatepass")
    return bytes(bad)
