"""How MCP clients write down a server, and their files with this one in them. The panel and the
command line both show what would change before anything is written."""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from callboard.clients.book import ClientBook
from callboard.clients.kept_tokens import token_of
from callboard.errors import PeerError
from callboard.hosting.private_file import write_private
from callboard.transport.instances import Instance

__all__ = [
    "COMMAND",
    "Change",
    "ClientFormat",
    "Instance",
    "bridge",
    "bridge_entry",
    "formats",
    "own_token",
    "planned",
]


@dataclass(frozen=True)
class ClientFormat:
    """How a client writes its servers: where, under which key, in which words."""

    title: str
    key: str
    path: Path | None
    #: It takes no local URL; it starts a program and speaks through its stdin and stdout.
    stdio: bool = False
    #: The file lies in the project, where others see it: no place for a token.
    shared: bool = False

    def entry(self, instance: Instance) -> dict[str, Any]:
        """Its entry with one instance's address and token, for a client that takes one."""
        entry: dict[str, Any] = {"type": "http", "url": instance.url}
        if instance.token:
            entry["headers"] = {"Authorization": f"Bearer {instance.token}"}
        return entry


def bridge_entry(
    client: str, instance: str | None = None, command: Sequence[str] | None = None
) -> dict[str, Any]:
    """The entry of a client that starts the bridge, which reads the token named ``client`` by
    itself. ``instance`` is for the bridge to choose by; ``command`` is what :func:`bridge` said,
    for who asked it already."""
    program, *arguments = command or bridge() or COMMAND
    chosen = [] if instance is None else ["--instance", instance]
    return {"command": program, "args": [*arguments, "--client", client, *chosen]}


def own_token(client: str) -> str:
    """The token of the client with that name, made if it has none. Reads and writes files. Raises
    PeerError for a name that can't be one, HostError."""
    return token_of(client, ClientBook())


def formats() -> dict[str, ClientFormat]:
    """The clients we know, by the name that the command takes."""
    home = Path.home()
    return {
        "claude-code": ClientFormat(
            "Claude Code", "mcpServers", Path(".mcp.json").absolute(), shared=True
        ),
        "claude-desktop": ClientFormat(
            "Claude Desktop", "mcpServers", _desktop_folder() / "claude_desktop_config.json", True
        ),
        "cursor": ClientFormat("Cursor", "mcpServers", home / ".cursor" / "mcp.json"),
        "vscode": ClientFormat(
            "VS Code", "servers", Path(".vscode").absolute() / "mcp.json", shared=True
        ),
        "other": ClientFormat("any other client", "mcpServers", None),
    }


#: What starts the bridge where callboard is installed as programs are.
COMMAND = ("callboard", "stdio")


def bridge() -> list[str] | None:
    """What a client can start as the bridge on this machine; None where nothing would do.

    Inside an application, Python's executable is that application, or a Python that doesn't see
    what the application sees; so it counts only if callboard is installed in that very Python."""
    if re.fullmatch(r"(python|pypy|mayapy|hython)[\d.]*w?", Path(sys.executable).stem.lower()):
        folders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        if any(metadata.distributions(name="callboard", path=sorted(folders))):
            return [sys.executable, "-m", "callboard", "stdio"]
    program = shutil.which(COMMAND[0]) or shutil.which(COMMAND[0], path=str(_programs()))
    return None if program is None else [program, *COMMAND[1:]]


def _programs() -> Path:
    """Where pipx and uv put programs, which applications started from a menu don't look into."""
    return Path.home() / ".local" / "bin"


def _desktop_folder() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Claude"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", Path.home() / "AppData" / "Roaming")) / "Claude"
    return Path.home() / ".config" / "Claude"


@dataclass(frozen=True)
class Change:
    """What a client's file holds and is to hold."""

    path: Path
    before: str
    after: str

    @property
    def difference(self) -> list[str]:
        """The lines of a unified diff."""
        before, after = (text.splitlines(keepends=True) for text in (self.before, self.after))
        return list(difflib.unified_diff(before, after, str(self.path), str(self.path)))

    def write(self) -> None:
        """Replaces the file, whole or not at all. Raises OSError."""
        # It may hold a token.
        write_private(self.path, self.after)


def planned(path: Path, key: str, entry: dict[str, Any]) -> Change:
    """The file with the entry in it, not written yet. Raises PeerError for a file that isn't what
    its client writes, OSError for one that can't be read."""
    before = path.read_text("utf-8") if path.exists() else ""
    try:
        settings = json.loads(before) if before.strip() else {}
    except ValueError as error:
        raise PeerError(f"{path} is not plain JSON ({error}); add the entry by hand") from None
    if not isinstance(settings, dict) or not isinstance(settings.get(key, {}), dict):
        raise PeerError(f"{path} has another shape than expected; add the entry by hand")
    settings.setdefault(key, {})["callboard"] = entry
    return Change(path, before, json.dumps(settings, indent=2, ensure_ascii=False) + "\n")
