"""The YAML at the head of ``SKILL.md``, and the line numbers of its entries."""

from __future__ import annotations

import re
from pathlib import Path

from callboard.ground import safe_yaml
from callboard.skills.model import SKILL_FILE
from callboard.skills.skill_files import FileProblem, read_text, resolve_inside

_FENCE = re.compile(r"^---[ \t\r]*$", re.MULTILINE)


def split_frontmatter(text: str) -> tuple[str, int] | None:
    """Return the YAML between the first two ``---`` lines, and its line number, or None."""
    fences = _FENCE.finditer(text)
    first = next(fences, None)
    if first is None or text[: first.start()].strip():
        return None
    second = next(fences, None)
    if second is None:
        return None
    start = first.end() + 1
    return text[start : second.start()], text.count("\n", 0, start) + 1


def frontmatter(folder: Path) -> safe_yaml.Document | None:
    """Return a skill's frontmatter, or None if it can't be read. Loading the skill reports that."""
    try:
        parts = split_frontmatter(read_text(folder, resolve_inside(folder, SKILL_FILE)))
        return None if parts is None else safe_yaml.load(*parts)
    except (FileProblem, safe_yaml.YamlError):
        return None


def written_line(folder: Path, key: str, value: str | None = None) -> int:
    """Return the line, counted from 1, of a key in ``metadata.dcc-mcp`` or at the top level. If the
    key has a list that contains ``value``, return the line of that item."""
    document = frontmatter(folder)
    if document is None:
        return 1
    for path in (("metadata", "dcc-mcp", key), ("metadata", f"dcc-mcp.{key}"), (key,)):
        if path not in document.lines:
            continue
        listed = document.value
        for part in path:
            listed = listed[part]
        index = listed.index(value) if isinstance(listed, list) and value in listed else None
        return document.line(*path) if index is None else document.line(*path, index)
    return document.line()
