"""Suggestions for a mistyped name."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from itertools import takewhile

#: Number of characters of a wrong name that are compared. The time grows with its square.
_LONGEST = 200


def close_matches(wrong: str, known: Iterable[str], count: int, cutoff: float = 0.6) -> list[str]:
    """Return at most ``count`` of the ``known`` names that are similar to ``wrong``, best first.
    ``wrong`` may be of any length."""
    import difflib  # This import is needed only for wrong names.

    return difflib.get_close_matches(wrong[:_LONGEST], known, count, cutoff)


def nearest_names(name: str, names: Iterable[str], count: int = 5) -> list[str]:
    """Return the ``count`` names that are most like ``name``, best first. If none are similar,
    return other names, so that the result is empty only if ``names`` is empty. To limit the work,
    very many names are first reduced to the names that contain the first three letters of ``name``.
    If ``name`` is long, only the names whose beginning and end are most like it are compared."""
    wanted = name.rsplit("/", 1)[-1].lower()
    unique = dict.fromkeys(names)
    likely = list(unique)
    if len(likely) > 2000:
        likely = [n for n in likely if wanted[:3] in n.lower()][:2000] or likely[:2000]
    most = max(20, 500_000 // (len(wanted) + 1) ** 2)
    if len(likely) > most:
        likely = heapq.nlargest(most, likely, key=lambda name: _same_ends(wanted, name.lower()))
    return (_alike(wanted, likely, count) or likely)[:count]


def names_hint(name: str, names: Sequence[str]) -> str:
    """Return the end of an error message about ``name``, with the names that ``nearest_names``
    chose. It begins with "; ", or is empty if there are no names. Names are called the nearest only
    if they are similar."""
    if not names:
        return ""
    alike = _alike(name.rsplit("/", 1)[-1].lower(), names, 1)
    likeness = "nearest" if alike else "some of the existing names"
    return f"; {likeness}: {', '.join(names)}"


def _alike(wanted: str, names: Iterable[str], count: int) -> list[str]:
    spelled: dict[str, list[str]] = {}
    for name in names:
        spelled.setdefault(name.lower(), []).append(name)
    close = close_matches(wanted, spelled, count, 0.5)
    return [name for key in close for name in spelled[key]]


def _same_ends(one: str, other: str) -> int:
    """Return how many characters two names have in common at their beginning and their end."""
    pairs = (zip(one, other, strict=False), zip(reversed(one), reversed(other), strict=False))
    return sum(len(list(takewhile(lambda pair: pair[0] == pair[1], each))) for each in pairs)
