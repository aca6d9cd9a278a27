"""Compares names with what a filter asks for."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

#: The end of the full name of linked data in Blender, which names its library.
_LIBRARY = re.compile(r" \[[^][]*\]$")


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function that says whether a name is the pattern itself or fits it."""
    wanted = pattern.lower()
    match = re.compile(translate(wanted)).match
    return lambda name: name.lower() == wanted or match(name.lower()) is not None


def is_pattern(word: str) -> bool:
    return any(mark in _LIBRARY.sub("", word) for mark in "*?[")


def parts_of(name: str) -> tuple[str, str, str]:
    """Return the full name, its last part if it is a path, and the name without its library."""
    return name, re.split(r"[/|]", name)[-1], _LIBRARY.sub("", name)
