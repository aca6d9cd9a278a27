"""Reads the sections of one HTML page, as Sphinx and Autodesk's help write it: headings with what
follows them, and the names that a reference of code defines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from time import monotonic

from callboard.manuals.index_file import NAMES

#: The element with the page's own text, the most specific first.
_MAIN = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"<article\b[^>]{0,300}\brole=\"?main",
        r"<div\b[^>]{0,300}\bitemprop=\"?articleBody",
        r"<div\b[^>]{0,300}\bclass=\"(?:body_content|body)\"",
        r"<main\b",
        r"<\w+\b[^>]{0,300}\brole=\"?main",
        r"<body\b",
    )
)
_TITLE = re.compile(r"<title[^>]{0,200}>(.{0,400}?)</title>", re.I | re.S)
_LANGUAGE = re.compile(r"<html\b[^>]{0,300}\blang=[\"']?([a-z]{2})", re.I)
_META = re.compile(r"<meta\b[^>]{0,600}>", re.I)
_CANONICAL = re.compile(r"<link\b[^>]{0,300}\brel=[\"']?canonical\b[^>]{0,300}>", re.I)
_ATTRIBUTE = re.compile(r"\b(name|content|href)\s*=\s*(?:\"([^\"]{0,500})\"|'([^']{0,500})')", re.I)
#: The part of a page in which its title and its other facts are.
_HEAD = 65_536
#: Characters that are read at once, and the seconds after which a page is given up. Python's
#: parser takes very long for some malformed pages.
_AT_ONCE, _PATIENCE = 16_384, 20.0
#: Elements inside each other beyond which no page of a manual goes.
_DEEPEST = 500

_EMPTY = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
        *("source", "track", "wbr"),
    )
)
_SKIPPED = frozenset(
    (
        *("script", "style", "nav", "svg", "form", "button", "aside", "footer", "noscript"),
        *("template", "iframe", "select", "object"),
    )
)
_SKIPPED_CLASSES = frozenset(
    (
        *("headerlink", "toctree-wrapper", "related-pages", "sphinxsidebar", "viewcode-link"),
        *("copybtn", "breadcrumbs", "wy-breadcrumbs", "rst-footer-buttons", "prev-next-area"),
        *("visually-hidden", "related"),
    )
)
_BLOCKS = frozenset(
    (
        *("p", "div", "ul", "ol", "dl", "section", "article", "main", "blockquote", "figure"),
        *("figcaption", "caption", "table", "thead", "tbody", "details", "summary", "hr", "center"),
        "body",
    )
)
#: The elements that end when another one begins, because their end tags may be left out.
_IMPLIED = {
    "p": ("p",),
    "li": ("p", "li"),
    "dt": ("p", "dt", "dd"),
    "dd": ("p", "dt", "dd"),
    "tr": ("p", "td", "th", "tr"),
    "td": ("p", "td", "th"),
    "th": ("p", "td", "th"),
}
#: An id that can be a part of a page's name in an answer.
_ANCHOR = re.compile(r"[^\s@]{1,200}")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


@dataclass
class Section:
    """A section. ``level`` is its heading's, and higher for the names that a reference defines.
    ``terms`` has the terms that it explains. ``blocks`` are its paragraphs."""

    level: int
    anchor: str
    title: str = ""
    terms: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ReadPage:
    """A page. ``title`` is that of its window. ``facts`` has its meta elements and, under
    ``canonical``, its public URL. ``whole`` is false if the page was given up."""

    title: str
    language: str
    facts: dict[str, str]
    sections: list[Section]
    whole: bool


def read_page(text: str) -> ReadPage:
    """Return the page's sections in their order. Text before the first heading has no title."""
    head = text[:_HEAD]
    title, language = _TITLE.search(head), _LANGUAGE.search(head)
    facts: dict[str, str] = {}
    for element in [*_META.findall(head), *_CANONICAL.findall(head)]:
        given = {
            name.lower(): unescape(one or two) for name, one, two in _ATTRIBUTE.findall(element)
        }
        if "content" in given and "name" in given:
            facts.setdefault(given["name"].lower(), given["content"])
        elif "href" in given:
            facts["canonical"] = given["href"]
    main = next((match for pattern in _MAIN if (match := pattern.search(text))), None)
    reader = _Reader()
    whole = _fed(reader, text[main.start() :] if main else f"<body>{text}")
    return ReadPage(
        title=_spaced(unescape(title[1])) if title else "",
        language=language[1].lower() if language else "",
        facts=facts,
        sections=[one for one in reader.sections if one.title or one.blocks],
        whole=whole,
    )


def _fed(reader: _Reader, text: str) -> bool:
    """Give the text to the reader. Return False when that takes too long, or fails."""
    ends = monotonic() + _PATIENCE
    for start in range(0, len(text), _AT_ONCE):
        try:
            reader.feed(text[start : start + _AT_ONCE])
        except AssertionError:  # Python's parser raises it for some malformed declarations.
            reader.finish()
            return False
        if reader.ended:
            return True
        if monotonic() > ends:
            return False
    # What the parser still holds is a tag or comment without its end. Its own close() would take
    # hours for a page of open comments.
    reader.finish()
    return True


def _spaced(text: str) -> str:
    return " ".join(text.split())


class _Reader(HTMLParser):
    """Reads the main element of a page. ``ended`` is true after that element's end."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.sections = [Section(0, "")]
        self.ended = False
        self._open: list[str] = []
        self._skipped_from: int | None = None
        self._words: list[str] = []
        self._pre = 0
        #: How many cells of tables are open. Their text stays on one line.
        self._cells = 0
        self._heading: Section | None = None
        #: The id of the section whose heading comes next.
        self._anchor = ""
        self._before = ""
        self._term: list[str] = []
        self._in_term = False
        self._in_note_title = False
        #: The sections around each list of definitions that is open.
        self._outer: list[Section] = []
        self._into = self.sections[0]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.ended or len(self._open) == _DEEPEST:
            return
        if tag in _EMPTY:
            self._empty(tag)
            return
        while self._open and self._open[-1] in _IMPLIED.get(tag, ()):
            self.handle_endtag(self._open[-1])
        given = {name: value or "" for name, value in attrs}
        if not _ANCHOR.fullmatch(given.get("id", "")):
            given.pop("id", None)
        classes = given.get("class", "").split()
        if (
            self._skipped_from is None
            and self._open
            and (
                tag in _SKIPPED
                or not _SKIPPED_CLASSES.isdisjoint(classes)
                or given.get("role") in ("navigation", "search")
            )
        ):
            self._skipped_from = len(self._open)
        self._open.append(tag)
        if self._skipped_from is None:
            self._begin(tag, given, classes)

    def handle_endtag(self, tag: str) -> None:
        if self.ended or tag not in self._open:
            return
        while self._open:
            last = self._open.pop()
            if self._skipped_from is None:
                self._end(last)
            elif len(self._open) <= self._skipped_from:
                self._skipped_from = None
            if last == tag:
                break
        if not self._open:
            self.flush()
            self._drop_term()
            self.ended = True

    def handle_data(self, data: str) -> None:
        if not self.ended and self._skipped_from is None:
            self._words.append(data)

    def finish(self) -> None:
        """End the elements that are open."""
        while self._open:
            self.handle_endtag(self._open[-1])
        if not self.ended:
            self.flush()

    def flush(self) -> None:
        """End the paragraph."""
        text = "".join(self._words)
        text = text.strip("\n") if self._pre else _spaced(text)
        if self._cells or self._heading is not None:  # Its end takes the words.
            self._words.append(" ")
            return
        self._words.clear()
        if not text.strip():
            return
        if self._in_term:
            self._term.append(text.rstrip(": "))
            return
        if self._in_note_title:
            self._before = f"{text}: "
            return
        self._into.blocks.append(f"{self._before}{self._taken_term(': ')}{text}")
        self._before = ""

    def _taken_term(self, after: str) -> str:
        """Return the terms that the next paragraph explains."""
        term = ", ".join(self._term)
        self._into.terms += self._term
        self._term.clear()
        return f"{term}{after}" if term else ""

    def _drop_term(self) -> None:
        """Keep a term that nothing explains."""
        if term := self._taken_term(""):
            self._into.blocks.append(term)

    def _empty(self, tag: str) -> None:
        if self._skipped_from is not None:
            return
        if tag == "hr":
            self.flush()
        elif tag == "br":
            self._words.append("\n" if self._pre else " ")

    def _begin(self, tag: str, given: dict[str, str], classes: list[str]) -> None:
        if tag in _HEADINGS:
            self._cells = 0  # The table arranges the page.
            self.flush()
            self._drop_term()
            anchor = self._anchor or given.get("id", "")
            self._heading = Section(_HEADINGS[tag], anchor)
            self._anchor = ""
            return
        if tag == "section" or "section" in classes:
            self._anchor = given.get("id", self._anchor)
        if tag == "dt":
            self._begin_term(given.get("id", ""), "sig" in classes)
        elif tag == "dl":
            self.flush()
            self._drop_term()
            self._outer.append(self._into)
        elif tag == "pre":
            self.flush()
            self._pre += 1
        elif tag in ("td", "th"):
            self._cells += 1
        elif tag in ("li", "dd", "tr") or tag in _BLOCKS:
            self.flush()
            self._in_note_title = "admonition-title" in classes
            if tag == "li":
                self._before = "- "

    def _begin_term(self, anchor: str, is_name: bool) -> None:
        """Begin a term. If it is a name that a reference defines, it begins a section."""
        self.flush()
        if is_name and anchor:
            outer = self._outer[-1] if self._outer else self.sections[0]
            self._into = Section(NAMES + len(self._outer), anchor, anchor)
            self.sections.append(self._into)
            if outer.level >= NAMES:  # A class lists its members among its terms.
                outer.terms.append(anchor.rpartition(".")[2])
        else:
            self._in_term = True

    def _end(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._end_heading()
        elif tag == "dt":
            self.flush()
            self._in_term = False
        elif tag == "dl":
            self.flush()
            self._drop_term()
            if self._outer:
                self._into = self._outer.pop()
        elif tag == "pre":
            self.flush()
            self._pre -= 1
        elif tag in ("td", "th"):
            self._cells = max(0, self._cells - 1)
            self._words.append(" | ")
        elif tag == "tr":
            if not self._cells:
                self._words = ["".join(self._words).strip(" |\n")]
            self.flush()
        elif tag in ("li", "dd") or tag in _BLOCKS:
            self.flush()
            self._in_note_title = False
            if tag == "li":
                self._before = ""

    def _end_heading(self) -> None:
        heading, self._heading = self._heading, None
        title = _spaced("".join(self._words))
        self._words.clear()
        if heading is None or not title:
            return
        heading.title = title[:200]
        self.sections.append(heading)
        self._into = heading
        # The heading isn't a part of a list of definitions that was left open.
        self._outer.clear()
