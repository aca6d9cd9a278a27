"""The order of two versions, as semver.org defines it, and for other ways of writing them."""

from __future__ import annotations

import re
from itertools import zip_longest

_Part = tuple[int, int, str]


def is_older(version: str, than: str) -> bool:
    """Return whether ``version`` is older: ``1.9`` than ``1.10``, ``2.0-rc.1`` than ``2.0``. The
    part after ``+`` doesn't count."""
    (own, own_before), (other, other_before) = _split(version), _split(than)
    for one, two in zip_longest(own, other, fillvalue=_part("0")):
        if one != two:
            return one < two
    if not own_before or not other_before:
        return bool(own_before) and not other_before
    return own_before < other_before


def _split(version: str) -> tuple[list[_Part], list[_Part]]:
    """Return a version's numbers, and the parts of its pre-release."""
    numbers, _, before = version.partition("+")[0].partition("-")
    parts = [_part(text) for text in before.split(".")] if before else []
    return [_part(text) for text in re.split(r"[._]", numbers)], parts


def _part(text: str) -> _Part:
    """Return a sortable part. Numbers come before words."""
    return (0, int(text), "") if text.isdecimal() else (1, 0, text)
