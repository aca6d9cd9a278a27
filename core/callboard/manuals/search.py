"""Searches the manuals that fit a host, and reads their pages on."""

from __future__ import annotations

import re
import sqlite3
from concurrent.futures import Future
from typing import NamedTuple

from callboard.content import Json
from callboard.ground.ranking import best, words
from callboard.guest.workers import Workers
from callboard.manuals.held_ranking import HeldRanking
from callboard.manuals.index_file import NAMES, BrokenManual, reading
from callboard.manuals.passages import part_of, passage
from callboard.manuals.shelf import Manual, fitting, is_of, manuals

#: Maximum number of characters of the best section's text, and of each further one's.
_FIRST, _FURTHER = 2_400, 900
#: Minimum fraction of a question's weight that a section must cover, and the minimum of each
#: further one as a fraction of the first one's.
_LEAST, _BESIDE = 0.5, 0.65
#: A look-up with at least this many words is a question. Names in code don't answer it if anything
#: else does.
_OF_QUESTION = 3
#: The number of characters below which a section's score is lower, because it says little, and the
#: factor of the shortest.
_SHORT, _OF_SHORT = 200, 0.6
#: The factor for sections of a reference, because its words are those of programmers.
_OF_REFERENCE = 0.7
#: The best sections by their words, from which those that cover more of the question are chosen.
_CANDIDATES = 200
#: A page's name as an answer gives it, or its URL: page, section, and the character to read on
#: from.
_PLACE = re.compile(r"(?P<page>[^\s#@]+)(?:#(?P<anchor>[^\s@]*))?(?:@(?P<at>\d{1,9}))?")
_HTML = re.compile(r"\.x?html?$", re.I)
_SECTIONS = (
    "SELECT s.number, s.page, s.level, s.anchor, s.title, s.within, s.text, p.path, p.url"
    " FROM sections s JOIN pages p ON p.number = s.page"
)


#: The types of a section's values.
_KINDS = (int, int, int, str, str, str, str, str, str)


class ManualSections(NamedTuple):
    """The sections that a look-up found, as entries of its answer, the best first. ``named`` says
    that the look-up names them. ``share`` is the fraction of the question's weight that the best
    one covers, and ``total`` the number of all. ``of`` has the titles of their manuals.
    ``problems`` has a sentence for each manual that can't be read. ``fits`` is false if no manual
    fits the host."""

    entries: list[Json]
    named: bool
    share: float
    total: int
    of: list[str]
    problems: list[str]
    fits: bool


class _Section(NamedTuple):
    number: int
    page: int
    level: int
    anchor: str
    title: str
    within: str
    text: str
    path: str
    url: str


def _section(row: tuple[object, ...]) -> _Section:
    """Return a row that :data:`_SECTIONS` selects. Raises BrokenManual."""
    section = _Section(*row)  # type: ignore[arg-type]
    if not all(isinstance(value, kind) for value, kind in zip(section, _KINDS, strict=True)):
        raise BrokenManual("a section isn't text")
    return section


class _Match(NamedTuple):
    score: float
    share: float
    section: _Section
    manual: Manual


def search_manuals(kind: str, version: str, look_up: str, limit: int) -> Future[ManualSections]:
    """Begin to search the manuals of that kind of host on a thread of its own. ``look_up`` is a
    question, a name, or the name of a page. Call it from any thread."""
    thread = Workers(1, "callboard manuals")
    search = thread.submit(_sections, kind, version, look_up, limit)
    thread.shutdown()  # The thread ends with the search.
    return search


def _sections(kind: str, version: str, look_up: str, limit: int) -> ManualSections:
    every, broken = manuals()
    fits = fitting(every, kind, version)
    problems = [_problem(name) for name in broken]
    ranked: list[_Match] = []
    for manual in fits:
        try:
            with reading(manual.path) as db:
                if named := _named(db, look_up.strip(), limit):
                    titles = [_title(manual, version)]
                    return ManualSections(named, True, 1.0, len(named), titles, problems, True)
                is_question = len(set(words(look_up))) >= _OF_QUESTION
                headings = is_question and bool(ranked)
                ranked += _ranked(db, look_up, manual, headings)
        except BrokenManual:
            if manual.path.exists():  # It wasn't removed in the meantime.
                problems.append(_problem(manual.name))
    ranked.sort(key=lambda one: (-one.score, one.section.number))
    least = ranked[0].share * _BESIDE if ranked else 0.0
    ranked = [one for one in ranked if one.share >= least]
    chosen = ranked[:limit]
    asked = words(look_up)
    entries = [
        _entry(one.section, *passage(one.section.text, asked, _FURTHER if number else _FIRST))
        for number, one in enumerate(chosen)
    ]
    titles = list(dict.fromkeys(_title(one.manual, version) for one in chosen))
    share = chosen[0].share if chosen else 0.0
    return ManualSections(entries, False, share, len(ranked), titles, problems, bool(fits))


def _named(db: sqlite3.Connection, look_up: str, limit: int) -> list[Json]:
    """Return the entries that the look-up names by their page, or by their name in code."""
    place = _PLACE.fullmatch(look_up)
    if place is None:
        return []
    page = _HTML.sub("", place["page"])
    page_row = db.execute(
        "SELECT number FROM pages WHERE path = ? COLLATE NOCASE", (page,)
    ).fetchone()
    if page_row is None and "://" in page:
        urls = (place["page"], f"{page}.html")
        page_row = db.execute("SELECT number FROM pages WHERE url IN (?, ?)", urls).fetchone()
    if page_row is not None and (place["anchor"] is not None or place["at"] or "/" in page):
        return _read_on(db, page_row[0], place["anchor"] or "", int(place["at"] or 0))
    if "." not in look_up:
        return []
    rows = db.execute(f"{_SECTIONS} WHERE s.title = ? COLLATE NOCASE LIMIT ?", (look_up, limit))
    sections = [_section(row) for row in rows]
    return [_entry(one, *passage(one.text, [], _FIRST)) for one in sections]


def _read_on(db: sqlite3.Connection, page: int, anchor: str, at: int) -> list[Json]:
    """Return a part of a section and those below it, or of the whole page. There is none if the
    page has no such section."""
    rows = db.execute(f"{_SECTIONS} WHERE s.page = ? ORDER BY s.number", (page,))
    sections = [_section(row) for row in rows]
    start = next((n for n, one in enumerate(sections) if not anchor or one.anchor == anchor), None)
    if start is None:
        return []
    first, text = sections[start], sections[start].text
    for one in sections[start + 1 :]:
        if anchor and one.level <= first.level:
            break
        text += f"\n\n{one.title}\n{one.text}"
    return [_entry(first._replace(anchor=anchor), *part_of(text, at))]


def _ranked(db: sqlite3.Connection, question: str, manual: Manual, headings: bool) -> list[_Match]:
    """Return the sections that fit. With ``headings``, leave out the names in code."""
    matches = []
    for score, share, number in best(HeldRanking(db), question, _CANDIDATES):
        if share < _LEAST:
            continue
        row = db.execute(f"{_SECTIONS} WHERE s.number = ?", (number,)).fetchone()
        if row is None:
            raise BrokenManual(f"it has no section {number}")
        section = _section(row)
        if headings and section.level >= NAMES:
            continue
        weight = _OF_REFERENCE if manual.reference else 1.0
        weight *= _OF_SHORT + (1 - _OF_SHORT) * min(1.0, len(section.text) / _SHORT)
        matches.append(_Match(score * share * weight, share, section, manual))
    return matches


def _entry(section: _Section, text: str, end: int | None) -> Json:
    """Return the section as an entry. ``end`` is where its text was cut."""
    place = f"{section.path}#{section.anchor}"
    entry: Json = {"name": section.title, "kind": "manual", "text": text, "page": place}
    if section.within:
        entry["within"] = section.within
    if section.url:
        # A page of Autodesk's help has its name in its URL's query.
        bare = "?" in section.url or not section.anchor
        entry["url"] = section.url if bare else f"{section.url}#{section.anchor}"
    if end is not None:
        entry["rest"] = f"{place}@{end}"
    return entry


def _problem(name: str) -> str:
    return f"the manual '{name}' can't be read; `callboard manual add` makes it again"


def _title(manual: Manual, version: str) -> str:
    """Return the manual's title. If it is of another version, say so."""
    return manual.title if is_of(manual, version) else f"{manual.title}, of another version"
