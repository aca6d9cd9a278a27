"""Compares the JSON on a page with the shape of a program's output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

#: Matches anything on a page. As a name in an object, it matches further members.
ANY = "…"
_LEFT_OUT = (
    (re.compile(r"\{…\}|(?<=[:\[,] )…(?=[,\]}])"), f'"{ANY}"'),
    (re.compile(r"(?<=, )…(?=\})"), f'"{ANY}": 0'),
    (re.compile(r"(?<=, )\"…\"(?=\})"), f'"{ANY}": 0'),
)


def values(text: str) -> Iterator[Any]:
    """Yield the JSON values of a text, one after the other. Raises ValueError for anything else."""
    for what, by in _LEFT_OUT:
        text = what.sub(by, text)
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        yield value
        at += len(text[at:]) - len(text[at:].lstrip())


def printed_values(text: str) -> list[Any]:
    """Return the JSON lines of a program's output, and the whole output if it is JSON."""
    read = []
    for each in (text, *text.splitlines()):
        try:
            read.append(json.loads(each))
        except ValueError:
            continue
    return read


def alike(shown: Any, real: Any) -> bool:
    """Return whether both have the same members, and values of the same kind."""
    if shown == ANY:
        return True
    if isinstance(shown, dict):
        if not isinstance(real, dict):
            return False
        told = shown.keys() - {ANY}
        if told != real.keys() and not (ANY in shown and told < real.keys()):
            return False
        return all(alike(shown[name], real[name]) for name in told)
    if isinstance(shown, list):
        return isinstance(real, list) and all(alike(shown[0], each) for each in real if shown)
    if isinstance(shown, bool) or isinstance(real, bool) or shown is None:
        return type(shown) is type(real)
    return isinstance(real, (int, float) if isinstance(shown, (int, float)) else type(shown))


def differing(shown: Any, real: Any) -> Iterator[tuple[str, str]]:
    """Yield each text of the page, such as an address or a file name, with the different text found
    here."""
    if isinstance(shown, dict):
        for name in shown.keys() & real.keys():
            yield from differing(shown[name], real[name])
    elif isinstance(shown, str) and isinstance(real, str) and ANY not in shown != real:
        yield shown, real
