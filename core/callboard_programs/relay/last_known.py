"""The last known introduction and lists of a host, kept for times when the host isn't running."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.ground.folders import cache_folder
from callboard.ground.private_file import write_private
from callboard.ground.version import __version__
from callboard.jobs.jobs import TASKS
from callboard.protocol.peer import PeerRequest

#: The lists that are kept: the key of each list in a result, and the method that returns the list.
LISTS = {
    "tools": "tools/list",
    "prompts": "prompts/list",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
}
#: The kind under which the gateway is kept. The gateway's own tools don't belong to any host.
GATEWAY = "gateway"
_INSTRUCTIONS = (
    "You reach Maya, 3ds Max, Houdini or Blender on this machine. None of them was connected when "
    "this conversation began. Once one is, its tools are listed. If several are running, a tool "
    "lists them and lets you choose one."
)
_KIND = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _nothing_known() -> Json:
    return {
        "capabilities": {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "prompts": {"listChanged": True},
            "completions": {},
            "logging": {},
            "extensions": {TASKS: {}},
        },
        "serverInfo": {"name": "callboard", "version": __version__},
        "instructions": _INSTRUCTIONS,
    }


@dataclass
class KnownHost:
    """A host's introduction and lists. ``introduction`` is ``{capabilities, serverInfo,
    instructions?}``; ``lists`` has the entries of each of :data:`LISTS`."""

    introduction: Json = field(default_factory=_nothing_known)
    lists: dict[str, list[Json]] = field(default_factory=lambda: {key: [] for key in LISTS})

    def tool_schema(self, name: object) -> Json | None:
        """Return the input schema of a tool, or None if it isn't known."""
        for tool in self.lists["tools"]:
            if tool.get("name") == name:
                schema = tool.get("inputSchema")
                return schema if isinstance(schema, dict) else None
        return None

    def only_reads(self, request: PeerRequest) -> bool:
        """Return whether the request calls a tool that declares itself read-only."""
        name = request.params.get("name")
        tool = next((tool for tool in self.lists["tools"] if tool.get("name") == name), {})
        hints = tool.get("annotations")
        reads = isinstance(hints, dict) and hints.get("readOnlyHint") is True
        return request.method == "tools/call" and reads

    def save(self, kind: str) -> None:
        """Save this as the last known host of that kind. Raises OSError."""
        if not _KIND.fullmatch(kind):
            return
        text = json.dumps({"introduction": self.introduction, "lists": self.lists})
        write_private(_folder() / f"{kind}.json", text)


def last_known(kind: str | None) -> KnownHost:
    """Return the saved host of that kind or, if ``kind`` is None, the host that was saved last."""
    try:
        files = sorted(_folder().glob("*.json"), key=lambda path: -path.stat().st_mtime)
    except OSError:
        return KnownHost()
    for path in files:
        if path.stem == kind:
            return _read(path) or KnownHost()
    files = [path for path in files if path.stem != GATEWAY]
    return (_read(files[0]) if files else None) or KnownHost()


def _folder() -> Path:
    return cache_folder() / "last-known"


def _read(path: Path) -> KnownHost | None:
    try:
        value: Any = json.loads(path.read_text("utf-8"))
        introduction, lists = value["introduction"], value["lists"]
        whole = isinstance(introduction["capabilities"], dict) and isinstance(
            introduction["serverInfo"], dict
        )
        if not whole or not all(isinstance(e, dict) for key in LISTS for e in lists[key]):
            return None
        return KnownHost(introduction, {key: list(lists[key]) for key in LISTS})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
