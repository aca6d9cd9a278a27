"""Ranks a manual's sections by the words in its index. Only the words of the question are read."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator, Mapping

from callboard.ground.ranking import Ranking
from callboard.manuals.index_file import BrokenManual, unpacked


class HeldRanking(Ranking):
    """The sections of an open index. Use it while the index is open. Raises BrokenManual."""

    def __init__(self, db: sqlite3.Connection) -> None:
        super().__init__(())
        row = db.execute("SELECT value FROM facts WHERE name = 'lengths'").fetchone()
        if row is None:
            raise BrokenManual("it has no lengths")
        self._lengths = unpacked(row[0], array("f"))
        self._holding = _Words(db)


class _Words(Mapping[str, tuple["array[int]", "array[float]"]]):
    """The words of an index, each with the numbers of its sections and its weight in each."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._read: dict[str, tuple[array[int], array[float]] | None] = {}

    def __getitem__(self, word: str) -> tuple[array[int], array[float]]:
        if word not in self._read:
            query = "SELECT numbers, counts FROM words WHERE word = ?"
            row = self._db.execute(query, (word,)).fetchone()
            self._read[word] = (
                None
                if row is None
                else (unpacked(row[0], array("I")), unpacked(row[1], array("f")))
            )
        if (held := self._read[word]) is None:
            raise KeyError(word)
        return held

    def __iter__(self) -> Iterator[str]:
        return (row[0] for row in self._db.execute("SELECT word FROM words"))

    def __len__(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM words").fetchone()[0])
