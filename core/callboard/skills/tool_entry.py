"""Turns one entry of ``tools.yaml`` into one :class:`ToolDeclaration`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from callboard.calls.entry import Affinity
from callboard.ports.capability_names import SCRIPT
from callboard.protocol.tool_names import is_tool_name
from callboard.skills.model import Execution, FailureKind, ToolDeclaration
from callboard.skills.script_runners import runs_code
from callboard.skills.skill_files import FileProblem, resolve_inside

if TYPE_CHECKING:
    from callboard.skills.called_function import Signature, Signatures

_HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}


def spellings(key: str) -> tuple[str, str, str]:
    """Return a key's spellings: ``snake_case``, ``kebab-case``, ``camelCase``."""
    head, *tail = key.split("_")
    return key, key.replace("_", "-"), head + "".join(part.title() for part in tail)


KNOWN_KEYS = frozenset(
    spelling
    for key in (
        *("name", "title", "description", "input_schema", "output_schema", "icons"),
        *("required_capabilities", "source_file", "affinity", "execution", "timeout_hint_secs"),
        *("annotations", "next_tools", "search_aliases", *_HINTS),
    )
    for spelling in spellings(key)
)


#: Every spelling of a hint below ``annotations``.
HINT_WORDS = frozenset(
    {*_HINTS.values(), *(f"{word}_hint" for word in _HINTS)},
)


class EntryProblem(Exception):
    """A problem with an entry. ``key`` is the key with the wrong value, and ``line`` is its line,
    if known."""

    def __init__(
        self,
        message: str,
        key: str | None = None,
        kind: FailureKind = "metadata",
        line: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.key = key
        self.kind: FailureKind = kind
        self.line = line


def read_tool(entry: Any, folder: Path, signatures: Signatures) -> ToolDeclaration:
    """Return the tool of an entry, which is a mapping or a bare name. ``folder`` is the skill's
    real path. A missing schema or description is taken from the function's signature, in
    ``signatures``. Raises EntryProblem."""
    if isinstance(entry, str):
        entry = {"name": entry}
    if not isinstance(entry, dict):
        raise EntryProblem("a tool must be a mapping with at least a name")
    name = entry.get("name")
    if not is_tool_name(name):
        raise EntryProblem("'name' must be 1 to 128 of A-Z a-z 0-9 _ . -", "name")
    next_key, next_tools = _either(entry, "next_tools")
    script = _script(entry, name, folder)
    description = _text(entry, "description")
    takes, gives = _schema(entry, "input_schema"), _schema(entry, "output_schema")
    written = {"description": description, "input_schema": takes, "output_schema": gives}
    unwritten = tuple(key for key, value in written.items() if not value)
    signature: Signature | None = None
    if script is not None and unwritten:
        signature = signatures.of(script, name, entry.get("entry_point"))
    schema = takes or _of_function(signature, "input_schema") or {"type": "object"}
    needs = _capabilities(entry)
    # A tool that runs a caller's code can do anything, whatever its author declares.
    code = None if SCRIPT in needs else runs_code(name, schema)
    return ToolDeclaration(
        name=name,
        description=description or (signature.summary if signature else ""),
        input_schema=schema,
        output_schema=gives or _of_function(signature, "output_schema"),
        unwritten=unwritten,
        required_capabilities=needs if code is None else (*needs, SCRIPT),
        runs_code=code,
        script=script,
        affinity=cast(Affinity, _choice(entry, "affinity", ("main", "any"))),
        execution=cast(Execution, _choice(entry, "execution", ("sync", "async"))),
        timeout_hint_secs=_timeout(entry),
        title=_text(entry, "title"),
        annotations=_annotations(entry),
        icons=_icons(entry),
        next_tools=_next_tools(next_key, next_tools),
        search_aliases=texts(*_either(entry, "search_aliases")),
        extra={key: value for key, value in entry.items() if key not in KNOWN_KEYS},
    )


def read_most(
    entry: Any, folder: Path, signatures: Signatures
) -> tuple[ToolDeclaration | None, list[EntryProblem]]:
    """Like :func:`read_tool`, but collect every problem of the entry and use its valid keys. Return
    no tool if these aren't enough to make one."""
    problems: dict[str, EntryProblem] = {}
    while True:
        try:
            return read_tool(entry, folder, signatures), [*problems.values()]
        except EntryProblem as problem:
            known = problem.message in problems
            problems.setdefault(problem.message, problem)
            if known or not isinstance(entry, dict) or problem.key not in entry:
                return None, [*problems.values()]
            entry = {key: value for key, value in entry.items() if key != problem.key}


def texts(key: str, value: Any) -> tuple[str, ...]:
    """Return a list of strings. A single string is split at its commas. Raises EntryProblem."""
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise EntryProblem(f"'{key}' must be a list of strings", key)
    return tuple(value)


def _either(entry: Mapping[str, Any], key: str) -> tuple[str, Any]:
    """Return the spelling of ``key`` that was used, and its value."""
    for spelling in spellings(key):
        if spelling in entry:
            return spelling, entry[spelling]
    return key, None


def _text(entry: Mapping[str, Any], key: str) -> str | None:
    value = entry.get(key)
    if value is not None and not isinstance(value, str):
        raise EntryProblem(f"'{key}' must be text", key)
    return value.strip() if value else None


def _choice(entry: Mapping[str, Any], key: str, choices: tuple[str, ...]) -> str:
    value = entry.get(key)
    if value is None:
        return choices[0]
    if value not in choices:
        raise EntryProblem(f"'{key}' must be {' or '.join(choices)}", key)
    return cast(str, value)


def _schema(entry: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    key, schema = _either(entry, key)
    if schema is None:
        return None
    if not isinstance(schema, dict):
        raise EntryProblem(f"'{key}' must be a mapping", key)
    if schema.get("type", "object") != "object":
        raise EntryProblem(f"'{key}' must have type: object", key)
    if not isinstance(schema.get("properties", {}), dict):
        raise EntryProblem(f"'{key}': 'properties' must be a mapping", key)
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(item, str) for item in required):
        raise EntryProblem(f"'{key}': 'required' must be a list of names", key)
    _refuse_outside_references(key, schema)
    return schema if "type" in schema else {"type": "object", **schema}


def _of_function(signature: Signature | None, key: str) -> Mapping[str, Any] | None:
    schema: Mapping[str, Any] | None = getattr(signature, key, None)
    _refuse_outside_references(key, schema)
    return schema


def _refuse_outside_references(key: str, node: Any) -> None:
    # A validator would fetch external references, and a skill must not make the server fetch
    # anything.
    if isinstance(node, dict):
        target = node.get("$ref")
        if isinstance(target, str) and not target.startswith("#"):
            raise EntryProblem(f"'{key}': '$ref' may only point into the schema itself", key)
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            if isinstance(item, (dict, list)):
                _refuse_outside_references(key, item)


def _capabilities(entry: Mapping[str, Any]) -> tuple[str, ...]:
    key, value = _either(entry, "required_capabilities")
    if value is None:
        return ()
    if not isinstance(value, list):
        raise EntryProblem(f"'{key}' must be a list of strings", key)
    if not all(isinstance(item, str) and item.strip() for item in value):
        raise EntryProblem(f"'{key}' must hold only non-empty strings", key)
    return tuple(dict.fromkeys(value))


def _script(entry: Mapping[str, Any], name: str, folder: Path) -> Path | None:
    key, source = _either(entry, "source_file")
    if source is not None and not isinstance(source, str):
        raise EntryProblem(f"'{key}' must be text", key)
    try:
        if source:
            if not source.endswith(".py"):
                raise EntryProblem(f"'{key}' must be a Python file", key)
            for place in (source, f"scripts/{source}"):
                script = resolve_inside(folder, place)
                if script.is_file():
                    return script
            raise EntryProblem(f"'{key}': '{source}' doesn't exist", key, "missing")
        for stem in dict.fromkeys((name, name.replace("-", "_"))):
            for place in (f"scripts/{stem}.py", f"{stem}.py"):
                script = resolve_inside(folder, place)
                if script.is_file():
                    return script
    except FileProblem as problem:
        raise EntryProblem(problem.message, key, problem.kind) from None
    except OSError:
        raise EntryProblem("its script can't be read", key, "read") from None
    return None


def _timeout(entry: Mapping[str, Any]) -> float | None:
    """Return the seconds, or None for 0, which means no limit."""
    key, value = _either(entry, "timeout_hint_secs")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise EntryProblem(f"'{key}' must be a number of seconds", key)
    try:
        seconds = float(value)
    except OverflowError:
        seconds = math.inf
    return seconds if 0 < seconds < math.inf else None


def _annotations(entry: Mapping[str, Any]) -> dict[str, Any]:
    written = entry.get("annotations")
    if written is None:
        written = {}
    if not isinstance(written, dict):
        raise EntryProblem("'annotations' must be a mapping", "annotations")
    hints: dict[str, Any] = {}
    for word, hint in _HINTS.items():
        # Packages for dcc-mcp also write `read_only: true` next to `annotations`.
        for place, spelling in ((written, hint), (written, f"{word}_hint"), (entry, word)):
            value = place.get(spelling)
            if value is None:
                continue
            if not isinstance(value, bool):
                raise EntryProblem(f"'{spelling}' must be true or false", "annotations")
            hints[hint] = value
            break
    if isinstance(written.get("title"), str):
        hints["title"] = written["title"]
    return hints


def _icons(entry: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    value = entry.get("icons")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(
        isinstance(icon, dict) and isinstance(icon.get("src"), str) for icon in value
    ):
        raise EntryProblem("'icons' must be a list of mappings with 'src'", "icons")
    return tuple(value)


def _next_tools(key: str, value: Any) -> dict[str, tuple[str, ...]]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise EntryProblem(f"'{key}' must be a mapping", key)
    by_outcome: dict[str, tuple[str, ...]] = {}
    for outcome in ("on-success", "on-failure"):
        listed = value.get(outcome, value.get(outcome.replace("-", "_")))
        if listed is not None:
            by_outcome[outcome] = texts(outcome, listed)
    return by_outcome
