"""Reads parameter descriptions from a docstring in Google, NumPy or Sphinx style."""

from __future__ import annotations

import re

_MAX_CHARACTERS = 20_000
_HEADING = re.compile(r"(?:Args|Arguments|Parameters|Params|Keyword Args):?")
_RULE = re.compile(r"-{3,}")
#: ``name (type): text``, or NumPy's ``name : type``
_ENTRY = re.compile(r"\*{0,2}(\w+)\s?(?:\([^)]*\))?\s?:(?:\s+(.*))?")
_FIELD = re.compile(r":(?:param|arg|parameter)\s(?:[^:]*\s)?(\w+):\s*(.*)")


def summary(docstring: str) -> str:
    """Return the first paragraph as one line."""
    return " ".join(docstring[:_MAX_CHARACTERS].strip().partition("\n\n")[0].split())


def parameters(docstring: str) -> dict[str, str]:
    """Return each parameter's description as one line. ``docstring`` is indented as
    ``inspect.cleandoc`` leaves it."""
    lines = docstring[:_MAX_CHARACTERS].splitlines()
    texts: dict[str, list[str]] = {}
    for at, line in enumerate(lines):
        if field := _FIELD.match(line):
            texts[field[1]] = [field[2], *_deeper(lines[at + 1 :], 0)]
        elif _HEADING.fullmatch(line.rstrip()):
            numpy = at + 1 < len(lines) and _RULE.fullmatch(lines[at + 1].rstrip()) is not None
            texts.update(_section(lines[at + 2 :] if numpy else lines[at + 1 :], numpy))
    return {name: text for name, parts in texts.items() if (text := " ".join(parts).strip())}


def _section(lines: list[str], numpy: bool) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    indent: int | None = 0 if numpy else None
    for at, line in enumerate(lines):
        if not line.strip():
            continue
        depth = _depth(line)
        indent = depth if indent is None else indent
        ends = at + 1 < len(lines) and _RULE.fullmatch(lines[at + 1].rstrip()) is not None
        if (depth == 0 and not numpy) or (numpy and ends):
            break
        if depth != indent:
            continue
        entry = _ENTRY.match(line.strip())
        name = entry[1] if entry else line.strip() if numpy else ""
        if name.isidentifier():
            first = [] if numpy or entry is None else [entry[2] or ""]
            texts[name] = [*first, *_deeper(lines[at + 1 :], indent)]
    return texts


def _deeper(lines: list[str], indent: int) -> list[str]:
    """Return the first lines that are indented more than ``indent``."""
    parts: list[str] = []
    for line in lines:
        if not line.strip() or _depth(line) <= indent:
            break
        parts.append(line.strip())
    return parts


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
