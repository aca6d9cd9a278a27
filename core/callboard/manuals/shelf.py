"""The folder of the manuals' indexes, and the choice of the manuals that fit a host."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from callboard.ground.folders import data_folder
from callboard.manuals.index_file import BrokenManual, reading

SUFFIX = ".manual"
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True)
class Manual:
    """One manual. ``kind`` is the kind of host that it describes. ``reference`` is true for a
    reference of names in code. Versions of one manual have the same ``book``."""

    path: Path
    kind: str
    version: str
    title: str
    book: str
    reference: bool
    pages: int
    sections: int

    @property
    def name(self) -> str:
        """The name in ``callboard manual list``."""
        return self.path.stem


def manuals_folder() -> Path:
    """Return the folder of the indexes, without creating it."""
    return data_folder() / "manuals"


def manuals() -> tuple[list[Manual], dict[str, str]]:
    """Return the manuals, and what is wrong with each that can't be read, by name. Call it from any
    thread but the main one."""
    whole, broken = [], {}
    for path in sorted(manuals_folder().glob(f"*{SUFFIX}")):
        if path.name.startswith("."):  # It is being written.
            continue
        try:
            whole.append(_described(path))
        except BrokenManual as error:
            if path.exists():  # It wasn't removed in the meantime.
                broken[path.stem] = str(error)
    return whole, broken


def _described(path: Path) -> Manual:
    with reading(path) as db:
        facts = dict(db.execute("SELECT name, value FROM facts WHERE name <> 'lengths'"))
    try:
        return Manual(
            path=path,
            kind=str(facts["kind"]),
            version=str(facts["version"]),
            title=str(facts["title"]),
            book=str(facts["book"]),
            reference=facts["reference"] == 1,
            pages=int(facts["pages"]),
            sections=int(facts["sections"]),
        )
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise BrokenManual(f"it has no {error}") from error


def fitting(every: list[Manual], kind: str, version: str) -> list[Manual]:
    """Return the manuals of that kind of host: of each book, the one whose version is nearest.
    References come last."""
    best: dict[str, Manual] = {}
    for manual in every:
        if manual.kind != kind:
            continue
        other = best.get(manual.book)
        if other is None or _distance(manual, version) < _distance(other, version):
            best[manual.book] = manual
    return sorted(best.values(), key=lambda one: (one.reference, one.book))


def is_of(manual: Manual, version: str) -> bool:
    """Return whether the manual describes that version of its host, such as 5.1 for 5.1.2."""
    return _distance(manual, version)[0] == 0


def _distance(manual: Manual, version: str) -> tuple[int, bool]:
    """Return how far the manual's version is from the host's. Of two that are equally far, the
    older one comes first, because the host has what it describes."""
    own, hosts = _numbers(manual.version), _numbers(version)
    if len(own) == 1:  # "2025" also describes 2025.3.
        hosts = hosts[:1]
    difference = _number(own) - _number(hosts)
    return abs(difference), difference > 0


def _numbers(version: str) -> list[int]:
    """Return major and minor version, such as 5 and 1 for 5.1.2."""
    return [int(each[:6]) for each in _NUMBERS.findall(version)[:2]]


def _number(numbers: list[int]) -> int:
    major, minor = [*numbers, 0, 0][:2]
    return major * 100 + min(minor, 99)
