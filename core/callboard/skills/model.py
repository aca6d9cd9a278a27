"""What a skill package says, as values. Nothing here reads a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from callboard.calls.entry import Affinity

#: The file that makes a folder a skill.
SKILL_FILE = "SKILL.md"

FailureKind = Literal["read", "parse", "missing", "empty", "metadata", "glob"]
Execution = Literal["sync", "async"]


@dataclass(frozen=True)
class Failure:
    """One thing wrong with one skill. ``reference`` is the path inside the skill's folder, as
    written; messages carry no absolute path. ``line`` counts from 1."""

    skill: str
    reference: str
    kind: FailureKind
    message: str
    line: int | None = None

    @property
    def editor_line(self) -> str:
        """As editors print it: ``tools.yaml:12: message``."""
        line = f":{self.line}" if self.line else ""
        return f"{self.reference}{line}: {self.message}"

    def as_json(self) -> dict[str, Any]:
        entry = {
            "skill": self.skill,
            "reference": self.reference,
            "kind": self.kind,
            "message": self.message,
        }
        return entry if self.line is None else {**entry, "line": self.line}


@dataclass(frozen=True)
class ToolDeclaration:
    """One entry of ``tools.yaml``.

    ``script`` is absolute and inside the skill's folder, or None when nothing was found to run.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    required_capabilities: tuple[str, ...] = ()
    #: Why it needs ``script.execute``, which it doesn't declare and is given; else None.
    runs_code: str | None = None
    script: Path | None = None
    affinity: Affinity = "main"
    execution: Execution = "sync"
    timeout_hint_secs: float | None = None
    title: str | None = None
    #: MCP's camelCase hints: readOnlyHint, destructiveHint, idempotentHint, openWorldHint, title.
    annotations: Mapping[str, Any] = field(default_factory=dict)
    icons: tuple[Mapping[str, Any], ...] = ()
    #: ``{"on-success": (...), "on-failure": (...)}``
    next_tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    search_aliases: tuple[str, ...] = ()
    #: Keys this version doesn't know, kept as written.
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SkillMetadata:
    """One skill package. References (``prompts`` …) are kept as written and read late."""

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
    examples: str | tuple[str, ...] | None = None
    recipes: str | tuple[str, ...] | None = None
    workflows: str | tuple[str, ...] | None = None
    failures: tuple[Failure, ...] = ()
    #: The frontmatter's ``metadata`` mapping, kept as written.
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def required_capabilities(self) -> list[str]:
        """Sorted union over the skill's tools."""
        return sorted({c for tool in self.tools for c in tool.required_capabilities})

    @property
    def when_called(self) -> bool:
        """Whether it says ``load: when-called``: it is rarely needed, so a search finds it, and a
        call of one of its tools loads it."""
        block = self.metadata.get("dcc-mcp")
        return isinstance(block, Mapping) and block.get("load") == "when-called"

    def wire_name(self, tool: str) -> str:
        """``maya-geometry`` and ``bevel`` make ``maya_geometry__bevel``."""
        return f"{self.name.replace('-', '_')}__{tool}"


def is_usable(skill: SkillMetadata) -> bool:
    """Whether its ``SKILL.md`` could be read; else ``failures`` says why not."""
    return bool(skill.description)
