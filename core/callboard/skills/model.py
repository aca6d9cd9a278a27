"""The values that describe a skill package. This module doesn't read files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from callboard.calls.entry import Affinity

#: The file that makes a folder a skill.
SKILL_FILE = "SKILL.md"

#: ``replaced`` isn't a mistake. It means that another skill with the same name takes precedence.
FailureKind = Literal["read", "parse", "missing", "empty", "metadata", "glob", "replaced", "held"]
Execution = Literal["sync", "async"]

_NOTHING: Mapping[str, Any] = {}


class Failure(NamedTuple):
    """A problem with a skill.

    ``reference`` is the path inside the skill's folder, as written. Messages contain no absolute
    path. ``line`` counts from 1. ``tool`` is the tool that can't be served because of the problem.
    """

    skill: str
    reference: str
    kind: FailureKind
    message: str
    line: int | None = None
    tool: str | None = None

    @property
    def editor_line(self) -> str:
        """The failure as editors print it: ``tools.yaml:12: message``."""
        line = f":{self.line}" if self.line else ""
        return f"{self.reference}{line}: {self.message}"

    def as_json(self) -> dict[str, Any]:
        entry = {
            "skill": self.skill,
            "reference": self.reference,
            "kind": self.kind,
            "message": self.message,
        }
        more = {"line": self.line, "tool": self.tool}
        return {**entry, **{key: value for key, value in more.items() if value is not None}}


class ToolDeclaration(NamedTuple):
    """One entry in ``tools.yaml``. ``script`` is absolute and inside the skill's folder, or None
    when no script was found."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    #: The names of the fields, among the three above, that ``tools.yaml`` omits and the script's
    #: function provides.
    unwritten: tuple[str, ...] = ()
    required_capabilities: tuple[str, ...] = ()
    #: The reason why ``script.execute`` was added to the declared capabilities, or None.
    runs_code: str | None = None
    script: Path | None = None
    affinity: Affinity = "main"
    execution: Execution = "sync"
    timeout_hint_secs: float | None = None
    title: str | None = None
    #: MCP's camelCase hints: readOnlyHint, destructiveHint, idempotentHint, openWorldHint, title.
    annotations: Mapping[str, Any] = _NOTHING
    icons: tuple[Mapping[str, Any], ...] = ()
    #: ``{"on-success": (...), "on-failure": (...)}``
    next_tools: Mapping[str, tuple[str, ...]] = _NOTHING
    search_aliases: tuple[str, ...] = ()
    #: Keys that this version doesn't recognize, kept as written.
    extra: Mapping[str, Any] = _NOTHING

    @property
    def entry_names(self) -> list[str]:
        """The result of :func:`entry_names` for this tool."""
        return entry_names(self.name, self.script, self.extra.get("entry_point"))


def own_name(tool: str) -> str:
    """Return a tool's name in a form that Python can call."""
    return tool.replace("-", "_").replace(".", "_")


def entry_names(tool: str, script: Path | None, entry_point: object) -> list[str]:
    """Return the possible names of the function that a call to the tool runs. The first name that
    exists is used. ``entry_point`` is the tool's own setting."""
    own = own_name(tool)
    # If a script has only one tool, its function is main. If several tools share a script, each
    # function has the name of its tool.
    alone = script is not None and script.stem in (tool, own)
    names = ["main", own] if alone else [own, "main"]
    return [entry_point, *names] if isinstance(entry_point, str) else names


class SkillMetadata(NamedTuple):
    """One skill package. References (``prompts`` …) are kept as written, and read only when
    needed."""

    name: str
    description: str
    path: Path
    dcc: str | None = None
    version: str | None = None
    layer: str | None = None
    license: str | None = None
    compatibility: str | None = None
    tags: tuple[str, ...] = ()
    search_hint: str | None = None
    search_aliases: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()
    tools: tuple[ToolDeclaration, ...] = ()
    prompts: str | None = None
    resources: tuple[str, ...] = ()
    examples: str | tuple[str, ...] | None = None
    recipes: str | tuple[str, ...] | None = None
    workflows: str | tuple[str, ...] | None = None
    failures: tuple[Failure, ...] = ()
    #: The frontmatter's ``metadata`` mapping, kept as written.
    metadata: Mapping[str, Any] = _NOTHING
    #: Packages that its scripts import, in pip's notation.
    requires: tuple[str, ...] = ()

    @property
    def required_capabilities(self) -> list[str]:
        """The capabilities of all the skill's tools, sorted."""
        return sorted({c for tool in self.tools for c in tool.required_capabilities})

    @property
    def when_called(self) -> bool:
        """True when the skill has ``load: when-called``, because it is rarely needed. A search
        finds such a skill, and a call to one of its tools loads it."""
        block = self.metadata.get("dcc-mcp")
        return isinstance(block, Mapping) and block.get("load") == "when-called"

    def wire_name(self, tool: str) -> str:
        """Return ``maya_geometry__bevel`` for ``maya-geometry`` and ``bevel``."""
        return f"{self.name.replace('-', '_')}__{tool}"


def shown_folder(folder: Path) -> str:
    """Return a skill's folder for messages, with its parent's name if the folder is a version."""
    above = folder.parent.name if folder.name.lstrip("v")[:1].isdecimal() else ""
    return f"{above}/{folder.name}" if above else folder.name


def is_usable(skill: SkillMetadata) -> bool:
    """Return whether the skill's ``SKILL.md`` could be read. If not, ``failures`` says why."""
    return bool(skill.description)
