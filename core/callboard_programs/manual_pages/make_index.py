"""Makes the index of a manual, and removes it."""

from __future__ import annotations

import re
import sqlite3
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from callboard.errors import HostError, PeerError
from callboard.ground.atomic_write import replacing
from callboard.ground.ranking import Ranking
from callboard.manuals.index_file import FORMAT, NAMES, SCHEMA, packed
from callboard.manuals.shelf import SUFFIX, Manual, manuals, manuals_folder
from callboard_programs.manual_pages.identity import Given, Identity, identity
from callboard_programs.manual_pages.page_reader import ReadPage, Section, read_page
from callboard_programs.manual_pages.pages import Pages, opened
from callboard_programs.manual_pages.wiki_reader import is_wiki, read_wiki

#: The weights of a word in a section's title, in the terms that it explains, in the titles around
#: it, and in its text.
_TITLE, _TERMS, _WITHIN, _TEXT = 3.0, 1.5, 1.0, 0.7
#: Maximum number of characters of a manual's text. Each section and paragraph counts for more than
#: its text, because it takes memory, too.
MAX_TEXT, _OF_EACH = 256 * 2**20, 100
_OF_HOUDINI = re.compile(r"(?:hfs|houdini) ?\d", re.I)


class Added(NamedTuple):
    """The result: the manual, and the number of pages that were left out."""

    manual: Manual
    skipped: int


class _Page(NamedTuple):
    path: str
    suffix: str
    read: ReadPage


def add_manual(source: Path, given: Given, progress: Callable[[int, int], None]) -> Added:
    """Make the index of a manual in a ZIP archive or folder, and replace an older one of the same
    manual and version. Calls ``progress`` with the number of pages done and of all. Raises
    HostError and PeerError. Nothing is kept then."""
    pages: list[_Page] = []
    with opened(source) as source_pages:
        skipped = _read(source_pages, pages, progress)
        # Houdini's help doesn't name its version, but the folder of Houdini does.
        above = [part for part in source.absolute().parts if _OF_HOUDINI.match(part)]
        names = [source.stem, source_pages.folder, *above]
    if not any(one.blocks for page in pages for one in page.read.sections):
        raise HostError(f"'{source.name}' has no text; is it a manual as HTML pages?")
    of = identity(given, names, (page.read for page in pages))
    name = of.title if of.version in of.title else f"{of.title} {of.version}"
    path = manuals_folder() / f"{_slug(name)}{SUFFIX}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(str(path)) as written:
            _write(Path(written), of, pages)
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise HostError(f"the index can't be written in '{path.parent}': {why}") from None
    made = next((manual for manual in manuals()[0] if manual.path == path), None)
    if made is None:
        raise HostError(f"another program removed '{path.name}' at the same time; add it again")
    return Added(made, skipped)


def _read(source_pages: Pages, pages: list[_Page], progress: Callable[[int, int], None]) -> int:
    """Add the pages to the list, and return the number of those that were left out. Raises
    HostError when they have too much text."""
    given_up = total = 0
    for number, page in enumerate(source_pages, 1):
        progress(number, source_pages.count)
        if page.suffix.lower() != ".txt":
            read = read_page(page.text)
        elif is_wiki(page.text):
            read = read_wiki(page.text)
        else:  # Such as a license.
            continue
        given_up += not read.whole
        for one in read.sections:
            total += _OF_EACH + sum(_OF_EACH + len(block) for block in one.blocks)
        if total > MAX_TEXT:
            raise HostError(
                f"its text is longer than {MAX_TEXT >> 20} MiB; give a part of the manual"
            )
        pages.append(_Page(page.path, page.suffix, read))
    return given_up + source_pages.skipped


def remove_manual(name: str) -> None:
    """Remove the manual with that name. Raises PeerError if there is none, and HostError."""
    whole, broken = manuals()
    names = [*(manual.name for manual in whole), *broken]
    if name not in names:
        raise PeerError(f"no manual is called {name[:80]!r}; `callboard manual list` lists them")
    try:
        (manuals_folder() / f"{name}{SUFFIX}").unlink(missing_ok=True)
    except OSError as error:
        raise HostError(
            f"'{name}' can't be removed: {error.strerror}; try again in a moment"
        ) from None


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:60] or "manual"


def _write(path: Path, of: Identity, pages: Sequence[_Page]) -> None:
    titles = {page.path: _own_title(page.read) for page in pages}
    ranking = _Counted()
    sections = names = 0
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.executescript(SCHEMA)
        db.execute("BEGIN")
        for number, page in enumerate(pages):
            url = of.url(page.path, page.suffix, page.read)
            db.execute(
                "INSERT INTO pages VALUES (?, ?, ?, ?)",
                (number, page.path, titles[page.path], url),
            )
            above = _above(page.path, titles)
            for within, one in _placed(page.read.sections, above):
                text = "\n".join(one.blocks)
                row = (sections, number, one.level, one.anchor, one.title, within, text)
                db.execute("INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?)", row)
                ranking.add(one, within, text)
                sections += 1
                names += one.level >= NAMES
        rows = ((word, packed(n), packed(c)) for word, (n, c) in ranking.held())
        db.executemany("INSERT INTO words VALUES (?, ?, ?)", rows)
        facts = {
            "format": FORMAT,
            "kind": of.kind,
            "version": of.version,
            "title": of.title,
            "book": _slug(of.title.replace(of.version, "")),
            "reference": int(names * 2 > sections),
            "pages": len(pages),
            "sections": sections,
            "lengths": packed(ranking.lengths),
        }
        db.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
        db.execute("COMMIT")


def _own_title(page: ReadPage) -> str:
    return next((one.title for one in page.sections if one.title), page.title)


def _above(path: str, titles: dict[str, str]) -> list[str]:
    """Return the titles of the pages above a page: those called ``index`` in the folders that the
    page is in."""
    folders = path.split("/")[:-1]
    indexes = ["/".join([*folders[:depth], "index"]) for depth in range(1, len(folders) + 1)]
    return [titles[index] for index in indexes if titles.get(index) and index != path]


def _placed(sections: Sequence[Section], above: Sequence[str]) -> Iterator[tuple[str, Section]]:
    """Yield each section that has text, with the titles around it."""
    around: list[Section] = []
    for one in sections:
        while around and around[-1].level >= one.level:
            around.pop()
        if one.blocks:
            titles = [*above, *(each.title for each in around if each.title)]
            yield " › ".join(titles)[-300:], one
        around.append(one)


class _Counted(Ranking):
    """Counts the sections' words."""

    def __init__(self) -> None:
        super().__init__(())

    def add(self, section: Section, within: str, text: str) -> None:
        terms = " ".join(section.terms)
        self._add([(_TITLE, section.title), (_TERMS, terms), (_WITHIN, within), (_TEXT, text)])

    def held(self) -> Iterator[tuple[str, tuple[array[int], array[float]]]]:
        return iter(sorted(self._holding.items()))

    @property
    def lengths(self) -> array[float]:
        return self._lengths
