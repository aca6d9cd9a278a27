"""The pages' text for people, without code."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PAGES = [
    *sorted(PROJECT.glob("*.md")),
    *(
        page
        for room in ("benchmarks", "docs", "examples", "tests/hosts")
        for page in sorted((PROJECT / room).rglob("*.md"))
        # A skill's page is for agents.
        if page.name != "SKILL.md"
    ),
]


def prose(page: Path) -> list[str]:
    """Return the page's lines. Lines of code are empty, and code within a line is one word."""
    lines, fence = [], ""
    for line in page.read_text("utf-8").splitlines():
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            line = ""
        lines.append("" if fence else re.sub(r"`[^`]*`", "code", line))
    return lines
