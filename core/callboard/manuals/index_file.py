"""The index of one manual: an SQLite file with the sections' texts, and the numbers of the sections
that contain each word. It doesn't use SQLite's full-text search, which some Pythons lack."""

from __future__ import annotations

import sqlite3
import sys
from array import array
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

_Numbers = TypeVar("_Numbers", "array[int]", "array[float]")
#: The version of these tables. Indexes with another version must be made again.
FORMAT = "1"
#: The level of the names in code that a reference defines. Headings have lower levels, and names
#: inside other names have higher ones.
NAMES = 10
SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE pages (
    number INTEGER PRIMARY KEY, path TEXT NOT NULL, title TEXT NOT NULL, url TEXT NOT NULL);
CREATE TABLE sections (
    number INTEGER PRIMARY KEY, page INTEGER NOT NULL, level INTEGER NOT NULL,
    anchor TEXT NOT NULL, title TEXT NOT NULL, within TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE words (word TEXT PRIMARY KEY, numbers BLOB, counts BLOB) WITHOUT ROWID;
CREATE INDEX by_path ON pages (path COLLATE NOCASE);
CREATE INDEX by_url ON pages (url);
CREATE INDEX by_page ON sections (page);
CREATE INDEX by_title ON sections (title COLLATE NOCASE);
"""


class BrokenManual(Exception):
    """Raised when an index can't be read."""


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open an index for reading. Call it from any thread but the main one. Raises BrokenManual,
    also for errors while it is read."""
    try:
        # Nothing changes an index: a new one replaces the file.
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as db:
            form = db.execute("SELECT value FROM facts WHERE name = 'format'").fetchone()
            if form is None or form[0] != FORMAT:
                raise BrokenManual("it was made by another version of callboard")
            yield db
    except (sqlite3.Error, ArithmeticError, ValueError, IndexError, TypeError) as error:
        raise BrokenManual(str(error)) from error


def packed(numbers: array[int] | array[float]) -> bytes:
    """Return the numbers as little-endian bytes."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def unpacked(data: bytes, empty: _Numbers) -> _Numbers:
    """Return the numbers that :func:`packed` packed, in the ``empty`` array, which has their type.
    Raises ValueError."""
    empty.frombytes(data)
    if sys.byteorder == "big":
        empty.byteswap()
    return empty
