"""Reads the sections of a page of Houdini's help, which is installed as text in a markup of its
own."""

from __future__ import annotations

import re

from callboard_programs.manual_pages.page_reader import ReadPage, Section

_HEADING = re.compile(r"(={1,5})\s*(\S.{0,200}?)\s*\1(?:\s*\((\S{1,80})\))?\s*")
#: Such as ``@parameters``, or ``@parameters Noise``.
_PART = re.compile(r"@([a-z]{1,40})(?:\s+(.{1,120}))?")
#: Such as ``#type: node``, which says something about the page or the paragraph above.
_FACT = re.compile(r"#[\w/]{1,40}:(?:\s.*)?")
#: Such as ``Primitive Type:``, whose explanation follows with a larger indent.
_TERM = re.compile(r"([^\s:*#-][^:]{0,120}):")
_ITEM = re.compile(r"(?:[*#-]|\d+\.)\s+(.*)")
#: Such as ``:fig:[Image:/images/box.png]`` and ``:task:Bake a map``.
_BLOCK = re.compile(r":[a-z_]{1,40}:(.*)")
_PICTURE = re.compile(r"\[(?:Image|Icon|Anim|Smallicon|Largeicon|Video):[^]]{0,300}\]", re.I)
_LINK = re.compile(r"\[([^]|]{1,300})(?:\|[^]]{0,300})?\]")
#: Parts that only list links.
_LINKS = ("related", "subtopics", "relatedlinks")


def is_wiki(text: str) -> bool:
    """Return whether the text is such a page: a title, with nothing but facts before it."""
    for line in text.lstrip("\ufeff").split("\n", 60)[:60]:
        line = line.strip()
        if line and not _FACT.fullmatch(line):
            heading = _HEADING.fullmatch(line)
            return heading is not None and len(heading[1]) == 1
    return False


def read_wiki(text: str) -> ReadPage:
    """Return the page's sections in their order."""
    reader = _WikiReader()
    for line in text.splitlines():
        reader.read(line)
    reader.flush()
    sections = [one for one in reader.sections if one.title or one.blocks]
    title = sections[0].title if sections else ""
    return ReadPage(title=title, language="", facts={}, sections=sections, whole=True)


class _WikiReader:
    def __init__(self) -> None:
        self.sections = [Section(0, "")]
        self._lines: list[str] = []
        self._before = ""
        self._code = False
        self._links = False

    def read(self, line: str) -> None:
        bare = line.strip()
        if self._code or bare.startswith("{{{"):
            self._read_code(line.rstrip())
        elif not bare:
            self.flush()
        elif (heading := _HEADING.fullmatch(bare)) is not None:
            self._begin(Section(len(heading[1]), heading[3] or "", _plain(heading[2])))
        elif (part := _PART.fullmatch(bare)) is not None:
            self._begin(Section(2, part[1], part[2] or part[1].capitalize()))
            self._links = part[1] in _LINKS
        elif not self._links and not _FACT.fullmatch(bare):
            self._read_text(bare)

    def flush(self) -> None:
        """End the paragraph."""
        text = _plain(" ".join(self._lines))
        self._lines.clear()
        if text:
            self.sections[-1].blocks.append(f"{self._before}{text}")
            self._before = ""

    def _read_text(self, bare: str) -> None:
        if (block := _BLOCK.fullmatch(bare)) is not None:
            self.flush()
            bare = block[1].strip()
        if (term := _TERM.fullmatch(bare)) is not None:
            self.flush()
            self._before = f"{_plain(term[1])}: "
            if not term[1].isupper():  # Such as NOTE.
                self.sections[-1].terms.append(_plain(term[1]))
            return
        if (item := _ITEM.fullmatch(bare)) is not None:
            self.flush()
            self._before = f"{self._before}- "
            bare = item[1]
        self._lines.append(bare)

    def _begin(self, section: Section) -> None:
        self.flush()
        self._before, self._links = "", False
        self.sections.append(section)

    def _read_code(self, line: str) -> None:
        """Keep the lines between ``{{{`` and ``}}}``, which needn't be on lines of their own."""
        if not self._code:
            self.flush()
            self._code = True
        ends = "}}}" in line
        self._lines.append(line.replace("{{{", "").replace("}}}", ""))
        if ends:
            code = "\n".join(each for each in self._lines if each.strip() not in ("", "#!vex"))
            self._lines.clear()
            self._code = False
            if code:
                self.sections[-1].blocks.append(code)


def _plain(text: str) -> str:
    """Return the text without the markup inside a paragraph."""
    text = _PICTURE.sub("", text.replace('"""', ""))
    text = _LINK.sub(lambda link: link[1].rpartition(":")[2], text)
    return " ".join(text.replace("__", "").replace("((", "").replace("))", "").split())
