"""Writes skill packages for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent, indent

TWO_TOOLS = """\
tools:
  - name: first
    description: The first tool.
  - name: second
    description: The second tool.
"""


def write_skill(
    parent: Path,
    name: str,
    *,
    block: str = "tools: tools.yaml",
    files: Mapping[str, str] | None = None,
) -> Path:
    """Write a folder ``parent/name`` with the files and a SKILL.md whose ``metadata.dcc-mcp`` is
    ``block``."""
    folder = parent / name
    folder.mkdir(parents=True)
    head = f"---\nname: {name}\ndescription: The {name} skill.\nmetadata:\n  dcc-mcp:\n"
    body = indent(dedent(block).strip(), "    ")
    (folder / "SKILL.md").write_text(
        f"{head}{body}\n---\n# {name}\n", encoding="utf-8", newline="\n"
    )
    write_files(folder, files or {})
    return folder


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(dedent(text), encoding="utf-8", newline="\n")
