"""Reads the resources that a skill declares: some of its files, and content that its functions
return."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from callboard.ground import safe_yaml
from callboard.ports.capability_names import FILESYSTEM_WRITE, SCENE_MUTATE, SCRIPT
from callboard.protocol.tool_names import is_tool_name
from callboard.skills.model import Failure, SkillMetadata, ToolDeclaration
from callboard.skills.reserved_names import SCHEMES
from callboard.skills.skill_files import FileProblem, read_text, relative, resolve_inside

MAX_RESOURCES = 200
#: Maximum number of variables in one URI template.
MAX_VARIABLES = 16
KEYS = (
    *("name", "uri", "title", "description", "mime_type", "file", "source_file", "affinity"),
    "required_capabilities",
)
#: Schemes that already have a meaning, in callboard or for every client.
_TAKEN = SCHEMES | {"callboard", "http", "https", "skill", "ui"}
_URI = re.compile(r"([a-z][a-z0-9+.-]{0,63})://([^\s{}\\\"<>|^`\x00-\x1f\x7f]|\{\+?\w+\})+")
_VARIABLE = re.compile(r"\{\+?(\w+)\}")


@dataclass(frozen=True)
class ResourceDeclaration:
    """One entry. It has either ``file``, which is absolute and inside the skill's folder, or
    ``function``, a tool whose arguments are the variables of ``uri``."""

    uri: str
    name: str
    title: str | None
    description: str | None
    mime_type: str | None
    required_capabilities: tuple[str, ...]
    file: Path | None
    function: ToolDeclaration | None

    @property
    def variables(self) -> list[str]:
        """The variables of a template, in order."""
        return variables(self.uri)


def variables(uri: str) -> list[str]:
    """Return the names between braces."""
    return _VARIABLE.findall(uri)


def read_resources(skill: SkillMetadata) -> tuple[list[ResourceDeclaration], list[Failure]]:
    """Return the resources of the files that SKILL.md names, in the order in which they are
    written, and a failure for every wrong entry. Reads the disk each time."""
    by_uri: dict[str, ResourceDeclaration] = {}
    failures: list[Failure] = []
    for reference in skill.resources:
        _read_file(skill, reference, by_uri, failures)
    return list(by_uri.values()), failures


def _read_file(
    skill: SkillMetadata,
    reference: str,
    by_uri: dict[str, ResourceDeclaration],
    failures: list[Failure],
) -> None:
    try:
        path = resolve_inside(skill.path, reference)
        reference = relative(skill.path, path)
        document = safe_yaml.load(read_text(skill.path, path))
        entries = _entries(document)
    except FileProblem as problem:
        failures.append(Failure(skill.name, reference, problem.kind, problem.message, problem.line))
        return
    except safe_yaml.YamlError as error:
        failures.append(Failure(skill.name, reference, "parse", error.message, error.line))
        return
    for index, entry in enumerate(entries):
        line = document.line("resources", index)
        try:
            repeated = document.duplicate_under("resources", index)
            if repeated is not None:
                raise FileProblem("parse", f"'{repeated[0]}' is written twice", repeated[1])
            one = _Entry(skill, entry, document, index).read()
            if one.uri in by_uri:
                raise FileProblem("metadata", f"an earlier resource has the URI {one.uri}", line)
            by_uri[one.uri] = one
        except FileProblem as problem:
            message = f"{_called(entry, index)}: {problem.message}"
            at = problem.line or line
            failures.append(Failure(skill.name, reference, problem.kind, message, at))


def _entries(document: safe_yaml.Document) -> list[Any]:
    value = document.value
    entries = value.get("resources") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        raise FileProblem("parse", "needs a list 'resources'", 1)
    if len(entries) > MAX_RESOURCES:
        raise FileProblem("parse", f"has more than {MAX_RESOURCES} resources", 1)
    return entries


class _Entry:
    """One entry as it is being read. Problems are raised as FileProblem with their line."""

    def __init__(
        self, skill: SkillMetadata, entry: Any, document: safe_yaml.Document, index: int
    ) -> None:
        self._skill = skill
        self._entry: Mapping[str, Any] = entry if isinstance(entry, dict) else {}
        self._document = document
        self._index = index

    def read(self) -> ResourceDeclaration:
        name = self._text("name")
        if not is_tool_name(name):
            self._refuse("'name' must be 1 to 128 of A-Z a-z 0-9 _ . -", "name")
        uri, needs = self._uri(), self._capabilities()
        file, source = self._text("file"), self._text("source_file")
        if (file is None) == (source is None):
            self._refuse("needs either 'file' or 'source_file', the script that reads it", "name")
        if file is not None and variables(uri):
            self._refuse("a file has no variables; name a source_file, or write a plain URI", "uri")
        function = None if source is None else self._function(name, source, needs)
        return ResourceDeclaration(
            uri,
            name,
            self._text("title"),
            self._text("description"),
            self._text("mime_type"),
            needs,
            None if file is None else self._inside("file", file),
            function,
        )

    def _uri(self) -> str:
        uri = self._text("uri") or ""
        if len(uri) > 512 or not _URI.fullmatch(uri):
            self._refuse(
                "'uri' must be like studio://shots/{shot}: a scheme in lower case and a path, "
                "variables between braces",
                "uri",
            )
        scheme = uri.partition(":")[0]
        if scheme in _TAKEN:
            self._refuse(f"'{scheme}://' is reserved; use a scheme of your own", "uri")
        names = variables(uri)
        if len(set(names)) < len(names) or not all(map(str.isidentifier, names)):
            self._refuse(
                "each variable of 'uri' needs its own name, which Python accepts as an identifier",
                "uri",
            )
        if len(names) > MAX_VARIABLES:
            self._refuse(f"'uri' has more than {MAX_VARIABLES} variables", "uri")
        return uri

    def _capabilities(self) -> tuple[str, ...]:
        needs = self._entry.get("required_capabilities") or []
        if not isinstance(needs, list) or not all(isinstance(need, str) for need in needs):
            self._refuse(
                "'required_capabilities' must be a list of strings", "required_capabilities"
            )
        for need in (SCENE_MUTATE, FILESYSTEM_WRITE, SCRIPT):
            if need in needs:
                message = f"a resource must not change anything; write a tool for what needs {need}"
                self._refuse(message, "required_capabilities")
        return tuple(dict.fromkeys(needs))

    def _function(self, name: str, source: str, needs: tuple[str, ...]) -> ToolDeclaration:
        affinity = self._entry.get("affinity", "main")
        if affinity not in ("main", "any"):
            self._refuse("'affinity' must be main or any", "affinity")
        script = self._inside("source_file", source)
        if script.suffix != ".py":
            self._refuse("'source_file' must be a Python file", "source_file")
        return ToolDeclaration(
            name,
            "",
            {"type": "object"},
            required_capabilities=needs,
            script=script,
            affinity=affinity,
        )

    def _inside(self, key: str, reference: str) -> Path:
        try:
            path = resolve_inside(self._skill.path, reference)
        except FileProblem as problem:
            self._refuse(problem.message, key)
        if not path.is_file():
            self._refuse(f"'{key}': '{reference}' doesn't exist", key)
        return path

    def _text(self, key: str) -> str | None:
        value = self._entry.get(key)
        if value is not None and not isinstance(value, str):
            self._refuse(f"'{key}' must be text", key)
        return value.strip() or None if value else None

    def _refuse(self, message: str, key: str) -> NoReturn:
        line = self._document.line("resources", self._index, key)
        raise FileProblem("metadata", message, line)


def _called(entry: Any, index: int) -> str:
    name = entry.get("name") if isinstance(entry, dict) else None
    return f"resource '{name[:64]}'" if isinstance(name, str) else f"resource {index + 1}"
