"""Reads a skill's folder into :class:`SkillMetadata`. Reads SKILL.md, the tools' file, and the
script of a tool whose description or schema isn't in the tools' file. Runs nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from callboard.ground import safe_yaml
from callboard.skills.frontmatter import split_frontmatter
from callboard.skills.model import (
    SKILL_FILE,
    Failure,
    FailureKind,
    SkillMetadata,
    ToolDeclaration,
    shown_folder,
)
from callboard.skills.skill_files import FileProblem, read_text, relative, resolve_inside
from callboard.skills.tool_entry import EntryProblem, read_most, texts
from callboard.skills.vendored import is_requirement

MAX_TOOLS = 2000
#: Maximum number of characters in a tool's name.
_LONGEST = 128

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def load_skill(folder: Path) -> SkillMetadata:
    """Load a skill. Never raises for a bad skill: problems are in ``failures``, and the rest is
    loaded.

    When ``SKILL.md`` itself is unusable, the skill has no description. See
    :func:`callboard.skills.model.is_usable`.
    """
    return _Reader(folder).read()


class _Reader:
    """Reads one skill and collects its problems."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(os.path.realpath(folder))
        self._name = shown_folder(folder.absolute() if folder.name else self._folder)
        self._failures: list[Failure] = []
        self._document = safe_yaml.Document({})
        #: The paths of the ``dcc-mcp`` block's keys in the document.
        self._places: dict[str, safe_yaml.Path] = {}

    def read(self) -> SkillMetadata:
        front = self._frontmatter()
        if front is None:
            return self._unusable()
        name = front.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            self._fail("metadata", "'name' must be 1 to 64 of A-Z a-z 0-9 _ . -", ("name",))
            return self._unusable()
        self._name = name
        description = front.get("description")
        if not isinstance(description, str) or not description.strip():
            self._fail("metadata", "'description' must be text", ("description",))
            return self._unusable()
        metadata = front.get("metadata")
        if metadata is not None and not isinstance(metadata, dict):
            self._fail("metadata", "'metadata' must be a mapping", ("metadata",))
        metadata = metadata if isinstance(metadata, dict) else {}
        block = self._block(metadata)
        tools = self._tools(block)
        fields: dict[str, Any] = {
            "dcc": self._text(block, "dcc"),
            "version": self._text(block, "version"),
            "layer": self._text(block, "layer"),
            "license": self._text(front, "license"),
            "compatibility": self._text(front, "compatibility"),
            "tags": self._texts(block, "tags"),
            "search_hint": self._text(block, "search-hint"),
            "search_aliases": self._texts(block, "search-aliases"),
            "depends": self._texts(block, "depends"),
            "requires": self._requirements(block),
            "prompts": self._text(block, "prompts"),
            "resources": self._texts(block, "resources"),
            "examples": self._references(block, "examples"),
            "recipes": self._references(block, "recipes"),
            "workflows": self._references(block, "workflows"),
        }
        return SkillMetadata(
            name=name,
            description=description.strip(),
            path=self._folder,
            tools=tools,
            metadata=metadata,
            failures=tuple(self._failures),
            **fields,
        )

    def _unusable(self) -> SkillMetadata:
        return SkillMetadata(self._name, "", self._folder, failures=tuple(self._failures))

    def _frontmatter(self) -> dict[str, Any] | None:
        try:
            text = read_text(self._folder, resolve_inside(self._folder, SKILL_FILE))
        except FileProblem as problem:
            self._fail_at(problem.kind, problem.message, SKILL_FILE, problem.line)
            return None
        parts = split_frontmatter(text)
        if parts is None:
            self._fail_at(
                "parse", "doesn't start with frontmatter between two --- lines", SKILL_FILE, 1
            )
            return None
        try:
            self._document = safe_yaml.load(*parts)
        except safe_yaml.YamlError as error:
            self._fail_at("parse", error.message, SKILL_FILE, error.line)
            return None
        for _, key, line in self._document.duplicates:
            self._fail_at("parse", f"'{key}' is written twice; the first counts", SKILL_FILE, line)
        front = self._document.value
        if not isinstance(front, dict):
            self._fail_at("parse", "the frontmatter must be a mapping", SKILL_FILE, parts[1])
            return None
        return front

    def _block(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``metadata.dcc-mcp``, from a mapping or from flat keys such as
        ``dcc-mcp.tools``."""
        block: dict[str, Any] = {}
        for key, value in metadata.items():
            if key.startswith("dcc-mcp."):
                block[key[8:]] = value
                self._places[key[8:]] = ("metadata", key)
        nested = metadata.get("dcc-mcp")
        if nested is not None and not isinstance(nested, dict):
            self._fail("metadata", "'metadata.dcc-mcp' must be a mapping", ("metadata", "dcc-mcp"))
        elif nested:
            for key, value in nested.items():
                block[key] = value
                self._places[key] = ("metadata", "dcc-mcp", key)
        # Other packages write these keys with an underscore.
        for key in ("search-hint", "search-aliases"):
            other = key.replace("-", "_")
            if key not in block and other in block:
                block[key], self._places[key] = block[other], self._places[other]
        return block

    def _tools(self, block: Mapping[str, Any]) -> tuple[ToolDeclaration, ...]:
        reference = self._text(block, "tools")
        if reference is None:
            return ()
        try:
            path = resolve_inside(self._folder, reference)
            shown = relative(self._folder, path)
            document = safe_yaml.load(read_text(self._folder, path))
        except FileProblem as problem:
            self._fail_at(problem.kind, problem.message, reference, problem.line)
            return ()
        except safe_yaml.YamlError as error:
            self._fail_at("parse", error.message, reference, error.line)
            return ()
        value = document.value
        at: safe_yaml.Path = () if isinstance(value, list) else ("tools",)
        entries = value.get("tools") if isinstance(value, dict) else value
        if entries is None:
            self._fail_at("empty", "has no tools", shown, 1)
            return ()
        if not isinstance(entries, list):
            self._fail_at("parse", "needs a list 'tools'", shown, document.line(*at))
            return ()
        if len(entries) > MAX_TOOLS:
            self._fail_at("parse", f"has more than {MAX_TOOLS} tools", shown, document.line(*at))
            return ()
        for where, key, line in document.duplicates:
            if len(where) <= len(at):
                self._fail_at("parse", f"'{key}' is written twice; the first counts", shown, line)
        by_name: dict[str, ToolDeclaration] = {}
        from callboard.skills.called_function import Signatures  # Startup uses a cache instead.

        signatures = Signatures(self._folder)
        for index, entry in enumerate(entries):
            here = (*at, index)
            tool, problems = read_most(entry, self._folder, signatures)
            if (repeated := document.duplicate_under(*here)) is not None:
                key, number = repeated
                problems = [EntryProblem(f"'{key}' is written twice", None, "parse", number)]
            elif tool is not None and tool.name in by_name:
                problems.append(EntryProblem("the name is taken by an earlier tool", "name"))
            for one in problems:
                line = one.line or document.line(*here, *filter(None, [one.key]))
                name = _name(entry)
                called = f"tool {index + 1}" if name is None else f"tool '{name[:64]}'"
                self._fail_at(one.kind, f"{called}: {one.message}", shown, line, name)
            if tool is not None and not problems:
                by_name[tool.name] = tool
        return tuple(by_name.values())

    def _text(self, mapping: Mapping[str, Any], key: str) -> str | None:
        value = mapping.get(key)
        if value is None:
            return None
        # An unquoted `version: 1.0` is a number to YAML.
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str):
            return value.strip() or None
        self._fail("metadata", f"'{key}' must be text", self._places.get(key, (key,)))
        return None

    def _texts(self, mapping: Mapping[str, Any], key: str) -> tuple[str, ...]:
        try:
            return texts(key, mapping.get(key))
        except EntryProblem as problem:
            self._fail("metadata", problem.message, self._places.get(key, (key,)))
            return ()

    def _requirements(self, block: Mapping[str, Any]) -> tuple[str, ...]:
        requires = tuple(
            text for text in self._texts(block, "requires") if not self._is_skill(text)
        )
        for text in requires:
            if not is_requirement(text):
                message = f"'requires' has '{text[:80]}', which isn't a package for pip"
                self._fail("metadata", message, self._places["requires"])
        return tuple(filter(is_requirement, requires))

    def _is_skill(self, name: str) -> bool:
        """Return whether this is the name of a skill in a neighboring folder, or of a bundled
        skill. Other packages list skills among their requirements."""
        if not _NAME.fullmatch(spelled := name.replace("_", "-")):
            return False
        folders = (self._folder.parent, Path(__file__).parent / "bundled")
        return any(
            (place / one / SKILL_FILE).is_file() for place in folders for one in {name, spelled}
        )

    def _references(self, mapping: Mapping[str, Any], key: str) -> str | tuple[str, ...] | None:
        if isinstance(mapping.get(key), list):
            return self._texts(mapping, key) or None
        return self._text(mapping, key)

    def _fail(self, kind: FailureKind, message: str, path: safe_yaml.Path) -> None:
        self._fail_at(kind, message, SKILL_FILE, self._document.line(*path))

    def _fail_at(
        self,
        kind: FailureKind,
        message: str,
        reference: str,
        line: int | None,
        tool: str | None = None,
    ) -> None:
        self._failures.append(Failure(self._name, reference, kind, message, line, tool))


def _name(entry: Any) -> str | None:
    name = entry.get("name") if isinstance(entry, dict) else entry
    return name[:_LONGEST] if isinstance(name, str) else None
