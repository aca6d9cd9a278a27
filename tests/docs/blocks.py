"""The pages that people read, and their blocks: what stands between two lines of backticks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
_PAGES = ("*.md", "docs/**/*.md", "examples/**/*.md", "tests/hosts/*.md", "benchmarks/*.md")
#: Decisions and changes tell what was; nobody follows them.
_HISTORY = ("docs/decisions/", "CHANGELOG.md")
_BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>[^\s`]*)(?P<words>.*)\n(?P<text>(?:.*\n)*?)(?P=indent)```$",
    re.M,
)


class Block(NamedTuple):
    """``words`` stand behind the language, and say what a test does with the block."""

    page: str
    line: int
    language: str
    words: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: ```{self.language} {self.words}".rstrip()


def pages() -> list[str]:
    """From the project's folder on."""
    listed = {
        path.relative_to(PROJECT).as_posix() for each in _PAGES for path in PROJECT.glob(each)
    }
    return sorted(page for page in listed if not page.startswith(_HISTORY))


def page_text(page: str) -> str:
    return (PROJECT / page).read_text("utf-8")


def blocks(page: str) -> list[Block]:
    """From top to bottom."""
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
    """Each command of a console, with the lines that it prints.

    Where a line begins with ``$ `` those do that are typed; else all are. A line that ends with a
    backslash goes on.
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
    """What is typed at once: a line whose quotes stay open goes on with the next."""
    joined: list[str] = []
    for line in filter(None, lines):
        if joined and joined[-1].count('"') % 2:
            joined[-1] += "\n" + line
        else:
            joined.append(line)
    return joined
