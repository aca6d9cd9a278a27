"""The documentation pages for people, and the blocks in them, each enclosed by two lines of
backticks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
_PAGES = ("*.md", "docs/**/*.md", "examples/**/*.md", "tests/hosts/*.md", "benchmarks/*.md")
#: Decisions and the changelog describe the past, so no reader follows them.
_HISTORY = ("docs/decisions/", "CHANGELOG.md")
_BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>[^\s`]*)(?P<words>.*)\n(?P<text>(?:.*\n)*?)(?P=indent)```$",
    re.M,
)


class Block(NamedTuple):
    """One block. ``words`` follow the language, and define how a test treats the block."""

    page: str
    line: int
    language: str
    words: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: ```{self.language} {self.words}".rstrip()


def pages() -> list[str]:
    """Return the pages' paths, relative to the project's folder."""
    listed = {
        path.relative_to(PROJECT).as_posix() for each in _PAGES for path in PROJECT.glob(each)
    }
    return sorted(page for page in listed if not page.startswith(_HISTORY))


def page_text(page: str) -> str:
    return (PROJECT / page).read_text("utf-8")


def blocks(page: str) -> list[Block]:
    """Return a page's blocks from top to bottom."""
    text = page_text(page)
    return [
        Block(
            page,
            text.count("\n", 0, fence.start()) + 1,
            fence["language"],
            fence["words"].strip(),
            re.sub(f"^{fence['indent']}", "", fence["text"], flags=re.MULTILINE),
        )
        for fence in _BLOCK.finditer(text)
    ]


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Return each command of a console, with the lines that it prints.

    If any line begins with ``$ ``, only such lines are typed. Otherwise all lines are. A line that
    ends with a backslash continues.
    """
    lines = text.replace("\\\n", " ").splitlines()
    if not any(line.startswith("$ ") for line in lines):
        return [(line, []) for line in whole(lines)]
    listed: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("$ "):
            listed.append((line[2:], []))
        else:
            listed[-1][1].append(line)
    return listed


def whole(lines: list[str]) -> list[str]:
    """Return complete commands: a line with an open quote continues on the next."""
    joined: list[str] = []
    for line in filter(None, lines):
        if joined and joined[-1].count('"') % 2:
            joined[-1] += "\n" + line
        else:
            joined.append(line)
    return joined
