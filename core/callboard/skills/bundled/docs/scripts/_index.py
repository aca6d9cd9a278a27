"""The index of the application's documentation. It is built once for each port."""

from __future__ import annotations

from collections.abc import Generator
from heapq import nsmallest
from typing import Any, NamedTuple
from weakref import ReferenceType, ref

from callboard.skill import Ranking
from callboard.skill import words as stems

#: The weights of a word in an entry's own name (``bevel`` in ``bpy.ops.mesh.bevel``), in the rest
#: of its full name, and in its text.
_OWN, _OWNERS, _TEXT = 3.0, 1.0, 1.0
#: The characters that may precede the last part of a name.
_BEFORE_LAST_NAME = ".:/"
#: A look-up with at least this many words is a question rather than a name. A question is about
#: what to do, so operators and types answer it better than single values, and both better than
#: functions, which are for scripts.
OF_QUESTION = 3
_KINDS = {"operator": 1.4, "type": 1.2, "function": 0.6}
#: The factor for an entry whose own name is the whole look-up, and for one without a text.
_SAME_NAME, _NO_TEXT = 1.5, 0.7


class Match(NamedTuple):
    """A matching entry. ``share`` is the fraction of the question's weight that its words cover."""

    share: float
    entry: Any


class Found(NamedTuple):
    """The result of a search. ``best`` has the best matches, and ``total`` is the number of all
    matches. ``whole`` is true if one entry has all the question's words. ``unknown`` has the words
    that are in no entry."""

    best: list[Match]
    total: int
    whole: bool
    unknown: list[str]


class Index(Ranking):
    """The entries of a port, ranked by their names and texts."""

    def __init__(self) -> None:
        super().__init__(())
        self._entries: list[Any] = []
        self._numbers: dict[str, list[int]] = {}

    def add(self, entry: Any) -> None:
        """Add an entry. Its own name is the last part: ``bevel`` in ``bpy.ops.mesh.bevel``."""
        name = entry.name
        start = max(map(name.rfind, _BEFORE_LAST_NAME)) + 1
        self._add([(_OWN, name[start:]), (_OWNERS, name[:start]), (_TEXT, entry.text)])
        self._numbers.setdefault(name.lower(), []).append(len(self._entries))
        self._entries.append(entry)

    def named(self, name: str) -> list[Any]:
        """Return the entries with that full name, which must be in lower case."""
        return [self._entries[number] for number in self._numbers.get(name, ())]

    def find(self, question: str, limit: int) -> Generator[None, None, Found]:
        """Return the best matches. Entries with more of the question's words come first."""
        scores, shares, unknown = yield from self._scored(question)
        kinds = _KINDS if len(set(stems(question))) >= OF_QUESTION else {}

        name = "_".join(question.lower().split())
        same_name = tuple(f"{before}{name}" for before in _BEFORE_LAST_NAME)

        def rank(number: int) -> tuple[float, int, int]:
            entry = self._entries[number]
            score = scores[number] * shares[number] * kinds.get(entry.kind, 1.0)
            if entry.name.lower().endswith(same_name):
                score *= _SAME_NAME
            if not entry.text:
                score *= _NO_TEXT
            # Among entries with equal scores, the shorter name comes first.
            return -score, len(entry.name), number

        best = nsmallest(limit, scores, key=rank)
        yield
        whole = max(shares.values(), default=0.0) > 0.999
        matches = [Match(shares[number], self._entries[number]) for number in best]
        return Found(matches, len(scores), whole, unknown)


#: The finished index of the port that was used last. It is in a list because a port needn't be
#: hashable.
_BUILT: list[tuple[ReferenceType[Any], Index]] = []


def kept_index(port: Any) -> Generator[None, None, Index]:
    """Return the port's index. If there is none, build it, and yield after each entry."""
    for built_for, index in _BUILT:
        if built_for() is port:
            return index
    index = Index()
    for entry in port.entries():
        index.add(entry)
        yield
    _BUILT[:] = [(ref(port), index)]
    return index
