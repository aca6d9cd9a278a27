"""Lists the parts of tools that come from their functions, because ``tools.yaml`` leaves them
out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from callboard.content import Json
from callboard.skills.called_function import Signature, Signatures
from callboard.skills.discovery import load_all, skill_folders
from callboard.skills.load import load_skill
from callboard.skills.model import ToolDeclaration


@dataclass(frozen=True)
class Explained:
    """The parts of a tool that come from its function. ``source`` is relative to the requested
    folder, with forward slashes. ``function`` is None if no function can be read, in which case any
    arguments are accepted."""

    skill: str
    tool: str
    source: str
    line: int
    function: str | None
    #: The parts that the function provides, out of ``description``, ``input_schema`` and
    #: ``output_schema``.
    gives: Json
    #: Annotations that have no meaning in JSON, so that any value is accepted.
    unread: tuple[str, ...]


def explain(folder: Path) -> Iterator[Explained]:
    """Yield an entry for each tool of the skills in ``folder`` that takes any part from its
    function. Runs no code. Raises OSError when the folder can't be listed."""
    for place, skill in load_all(list(skill_folders(folder)), load_skill):
        signatures = Signatures(skill.path)
        for tool in skill.tools:
            if tool.script is not None and tool.unwritten:
                signature = signatures.of(tool.script, tool.name, tool.extra.get("entry_point"))
                if signature is None and "input_schema" not in tool.unwritten:
                    continue
                shown = tool.script.relative_to(skill.path).as_posix()
                source = shown if place == folder else f"{place.name}/{shown}"
                yield _explained(skill.name, tool, source, signature)


def _explained(
    skill: str, tool: ToolDeclaration, source: str, signature: Signature | None
) -> Explained:
    if signature is None:
        return Explained(skill, tool.name, source, 1, None, {}, ())
    given = {key: value for key in tool.unwritten if (value := getattr(tool, key))}
    return Explained(
        *(skill, tool.name, source, signature.line, signature.function, given),
        signature.unread if "input_schema" in tool.unwritten else (),
    )
