"""Remembers loaded skills by the stamps of the files they were read from.

The skills are kept in memory, and in a file if one is given, so that the next start is fast too. A
file that is missing, damaged or from another version is ignored.
"""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any

from callboard.errors import HostError
from callboard.ground.atomic_write import replacing
from callboard.ground.version import __version__
from callboard.skills.file_stamps import Stamp, settled, stamp
from callboard.skills.model import SKILL_FILE, Failure, SkillMetadata, ToolDeclaration

_FORMAT = 6

Stamps = tuple[Stamp, ...]


class DiscoveryCache:
    """The cache. Not thread-safe: its owner must guard it."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._known: dict[str, tuple[Stamps, SkillMetadata]] = {}
        self._used: set[str] = set()
        self._changed = False
        if file is not None:
            self._known = _read(file)

    def load(self, folder: Path) -> SkillMetadata:
        """Like :func:`load_skill`, but return the same value as last time if nothing has changed.
        Skills with failures, or with files changed a moment ago, are loaded each time."""
        key = str(folder)
        self._used.add(key)
        known = self._known.get(key)
        if known is not None and known[0] == _stamps(folder, known[1]):
            return known[1]
        # This imports YAML, which most starts don't need.
        from callboard.skills.load import load_skill

        began = time.time_ns()
        skill = load_skill(folder)
        stamps = _stamps(folder, skill)
        # A problem may be fixed in a file whose stamp isn't checked.
        if not skill.failures and settled(stamps, began):
            self._known[key] = (stamps, skill)
            self._changed = True
        elif self._known.pop(key, None) is not None:
            self._changed = True
        return skill

    def save(self) -> None:
        """Write the file if anything changed, leaving out folders that haven't been loaded since
        the last save. Errors while writing are ignored."""
        for key in self._known.keys() - self._used:
            del self._known[key]
            self._changed = True
        self._used = set()
        if self._file is None or not self._changed:
            return
        with contextlib.suppress(OSError, TypeError, ValueError, HostError):
            _write(self._file, self._known)
            self._changed = False


def _stamps(folder: Path, skill: SkillMetadata) -> Stamps:
    """Return the stamps of all files that decide what :func:`load_skill` returns. The folders' own
    stamps change when scripts are added or removed."""
    places = [folder, folder / SKILL_FILE, folder / "scripts"]
    block: Any = skill.metadata.get("dcc-mcp")
    tools = block.get("tools") if isinstance(block, dict) else skill.metadata.get("dcc-mcp.tools")
    if isinstance(tools, str) and "\0" not in tools:
        places.append(folder / tools)
    scripts = [(tool.script, tool.unwritten) for tool in skill.tools if tool.script is not None]
    places += {script.parent for script, _ in scripts} - {skill.path, *places}
    places += sorted({script for script, unwritten in scripts if unwritten})
    return tuple(stamp(place) for place in places)


def _write(file: Path, known: dict[str, tuple[Stamps, SkillMetadata]]) -> None:
    schemas: dict[str, int] = {}
    skills = {key: [stamps, _skill_json(skill, schemas)] for key, (stamps, skill) in known.items()}
    value = {
        "format": _FORMAT,
        "version": __version__,
        "schemas": [json.loads(schema) for schema in schemas],
        "skills": skills,
    }
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(str(file)) as partial:
        Path(partial).write_text(text, encoding="utf-8")


def _read(file: Path) -> dict[str, tuple[Stamps, SkillMetadata]]:
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
        if value["format"] != _FORMAT or value["version"] != __version__:
            return {}
        schemas = value["schemas"]
        return {
            key: (tuple(tuple(s) if s else None for s in stamps), _skill(written, schemas))
            for key, (stamps, written) in value["skills"].items()
        }
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return {}


_SKILL_FIELDS = [name for name in SkillMetadata._fields if name not in ("tools", "failures")]
_TOOL_FIELDS = ToolDeclaration._fields


#: Fields that many tools share and that take the most space. Each value is kept in memory only
#: once.
_SHARED = ("input_schema", "output_schema")


def _skill_json(skill: SkillMetadata, schemas: dict[str, int]) -> dict[str, Any]:
    written = {name: getattr(skill, name) for name in _SKILL_FIELDS}
    written["path"] = str(skill.path)
    written["tools"] = [_tool_json(tool, schemas) for tool in skill.tools]
    written["failures"] = [failure.as_json() for failure in skill.failures]
    return written


def _tool_json(tool: ToolDeclaration, schemas: dict[str, int]) -> dict[str, Any]:
    """Return a tool as JSON. Its schemas move to ``schemas``, and their positions there replace
    them."""
    written = {name: getattr(tool, name) for name in _TOOL_FIELDS}
    for name in _SHARED:
        schema = json.dumps(written[name], ensure_ascii=False, allow_nan=False)
        written[name] = schemas.setdefault(schema, len(schemas))
    written["script"] = None if tool.script is None else str(tool.script)
    return written


def _skill(written: dict[str, Any], schemas: list[Any]) -> SkillMetadata:
    for name in ("tags", "search_aliases", "depends", "requires", "resources"):
        written[name] = tuple(written[name])
    for name in ("examples", "recipes", "workflows"):
        if isinstance(written[name], list):
            written[name] = tuple(written[name])
    written["path"] = Path(written["path"])
    written["tools"] = tuple(_tool(tool, schemas) for tool in written["tools"])
    written["failures"] = tuple(Failure(**failure) for failure in written["failures"])
    return SkillMetadata(**written)


def _tool(written: dict[str, Any], schemas: list[Any]) -> ToolDeclaration:
    for name in _SHARED:
        written[name] = schemas[written[name]]
    if written["script"] is not None:
        written["script"] = Path(written["script"])
    for name in ("unwritten", "required_capabilities", "icons", "search_aliases"):
        written[name] = tuple(written[name])
    written["next_tools"] = {key: tuple(names) for key, names in written["next_tools"].items()}
    return ToolDeclaration(**written)
