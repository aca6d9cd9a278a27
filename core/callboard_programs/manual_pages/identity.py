"""Finds out which application and version a manual describes, from its pages and its file's name,
and where its pages are on the web."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

from callboard.errors import PeerError
from callboard_programs.manual_pages.page_reader import ReadPage

#: The kinds of hosts, each with its name.
KINDS = {
    "blender": "Blender",
    "maya": "Maya",
    "3dsmax": "3ds Max",
    "houdini": "Houdini",
    "openusd": "OpenUSD",
}
_NAMES = {
    "blender": "blender",
    "maya": "maya",
    "mayaul": "maya",
    "3ds max": "3dsmax",
    "3dsmax": "3dsmax",
    "houdini": "houdini",
    "hfs": "houdini",
    "openusd": "openusd",
}
_NAMED = re.compile(
    r"(?<![a-z])(blender|mayaul|maya|3ds ?max|houdini|hfs|openusd)(?![a-z])(?:[^0-9]{0,40}?v?"
    r"(20\d\d(?:\.\d)?|\d{1,2}[._]\d{1,2}|\d{3}))?(?!\d)",
    re.I,
)
#: What separates a page's title from the manual's.
_BETWEEN = re.compile(r"\s+[—–|-]\s+|\s+»\s+")
_LINK = re.compile(r"https?://\S+", re.I)
#: Products of Autodesk's help, by kind.
_AUTODESK = {"maya": "MAYAUL", "3dsmax": "3DSMAX"}


class Given(NamedTuple):
    """The user's own words about a manual. Empty strings stand for nothing."""

    kind: str = ""
    version: str = ""
    title: str = ""
    url: str = ""


@dataclass(frozen=True)
class Identity:
    """The application and version that a manual describes. ``base`` is the URL of its folder on
    the web, or empty."""

    kind: str
    version: str
    title: str
    base: str

    def url(self, path: str, suffix: str, page: ReadPage) -> str:
        """Return the page's URL on the web, or an empty string if it isn't known."""
        topic = page.facts.get("topicid", "")
        if not self.base and topic and self.kind in _AUTODESK:
            place = f"{_AUTODESK[self.kind]}/{quote(self.version)}/ENU"
            return f"https://help.autodesk.com/view/{place}/?guid={quote(topic)}"
        if self.base:
            return f"{self.base}{quote(path)}{'.html' if suffix == '.txt' else suffix}"
        canonical = page.facts.get("canonical", "")
        return canonical if _LINK.fullmatch(canonical) and canonical.isprintable() else ""


def identity(given: Given, names: Iterable[str], pages: Iterable[ReadPage]) -> Identity:
    """Return what the manual describes. ``names`` are those of its file and folder. Raises
    PeerError with the words to add when the application or the version isn't known."""
    pages = list(pages)
    counted: Counter[tuple[str, str]] = Counter()
    endings: Counter[str] = Counter()
    for page in pages:
        texts = [page.title, *(one.title for one in page.sections[:1])]
        release = page.facts.get("release", "")
        counted.update(_named(f"{page.facts.get('product', '')} {release}") * 2)
        for text in texts:
            counted.update(_named(text))
        parts = _BETWEEN.split(page.title)
        endings[parts[-1].strip()] += len(parts) > 1
    for name in names:
        counted.update(_named(name.replace("_", " ")) + _named(name))
    kind = given.kind or next((kind for (kind, _), _ in counted.most_common()), "")
    if not kind:
        raise PeerError(
            "which application this manual describes isn't said in its pages; add, for example, "
            "`--for blender --version 5.1`"
        )
    versions = [version for (of, version), _ in counted.most_common() if of == kind and version]
    version = given.version or next(iter(versions), "")
    if not version:
        raise PeerError(
            f"which version of {KINDS[kind]} this manual describes isn't said in its pages; add, "
            "for example, `--version 5.1`"
        )
    title = given.title or _title(kind, version, endings)
    language = next((page.language for page in pages if page.language), "en")
    return Identity(kind, version, title, _base(given.url, kind, version, title, language))


def _named(text: str) -> list[tuple[str, str]]:
    """Return the kind and the version, possibly empty, of each application that the text names."""
    named = []
    for name, version in _NAMED.findall(text[:400]):
        version = version.replace("_", ".")
        if len(version) == 3 and version.isdigit():
            # In the name of Blender's archive, v510 is 5.1, and v293 is 2.93.
            version = f"{version[0]}.{version[1:] if version[0] == '2' else version[1]}"
        named.append((_NAMES[name.lower()], version))
    return named


def _title(kind: str, version: str, endings: Counter[str]) -> str:
    """Return the title that the pages' titles end with, with the application and its version."""
    title, times = endings.most_common(1)[0] if endings else ("", 0)
    if times < 2 or title.lower() == "autodesk":
        title = f"{KINDS[kind]} {version} manual"
    if KINDS[kind].lower() not in title.lower():
        title = f"{KINDS[kind]} {title}"
    if version not in title:
        title = f"{title} {version}"
    return title[:80]


def _base(url: str, kind: str, version: str, title: str, language: str) -> str:
    if url:
        return url if url.endswith("/") else f"{url}/"
    if kind == "blender":
        if "python" in title.lower() or "api" in title.lower().split():
            return f"https://docs.blender.org/api/{quote(version)}/"
        return f"https://docs.blender.org/manual/{language}/{quote(version)}/"
    if kind == "houdini":
        return f"https://www.sidefx.com/docs/houdini{quote(version)}/"
    return ""
