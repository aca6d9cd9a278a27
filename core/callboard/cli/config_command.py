"""``callboard config``: the configuration that connects an MCP client."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from callboard.cli.instance import choose
from callboard.errors import PeerError
from callboard.transport.instances import Instance


@dataclass(frozen=True)
class ClientFormat:
    """How a client writes its servers: where, under which key, in which words."""

    title: str
    key: str
    path: Path | None
    #: It takes no local URL; it starts a program and speaks through its stdin and stdout.
    stdio: bool = False

    def entry(self, instance: Instance | None) -> dict[str, Any]:
        """Its entry for one instance; a client of a program finds instances by itself."""
        if self.stdio:
            command, *arguments = bridge() or COMMAND
            return {"command": command, "args": arguments}
        assert instance is not None
        entry: dict[str, Any] = {"type": "http", "url": instance.url}
        if instance.token:
            entry["headers"] = {"Authorization": f"Bearer {instance.token}"}
        return entry


def formats() -> dict[str, ClientFormat]:
    """The clients we know, by the name that the command takes."""
    home = Path.home()
    return {
        "claude-code": ClientFormat("Claude Code", "mcpServers", Path(".mcp.json").absolute()),
        "claude-desktop": ClientFormat(
            "Claude Desktop", "mcpServers", _desktop_folder() / "claude_desktop_config.json", True
        ),
        "cursor": ClientFormat("Cursor", "mcpServers", home / ".cursor" / "mcp.json"),
        "vscode": ClientFormat("VS Code", "servers", Path(".vscode").absolute() / "mcp.json"),
        "other": ClientFormat("any other client", "mcpServers", None),
    }


#: What starts the bridge where callboard is installed as programs are.
COMMAND = ("callboard", "stdio")
NO_BRIDGE = (
    "this client starts the program 'callboard', which isn't installed for this user: install it "
    "with `pipx install FOLDER`, where FOLDER is callboard's source, then come back"
)


def bridge() -> list[str] | None:
    """What a client can start as the bridge on this machine; None where nothing would do.

    Inside an application, Python's executable is that application, or a Python that doesn't see
    what the application sees; so it counts only if callboard is installed in that very Python."""
    if re.fullmatch(r"(python|pypy|mayapy|hython)[\d.]*w?", Path(sys.executable).stem.lower()):
        folders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        if any(metadata.distributions(name="callboard", path=sorted(folders))):
            return [sys.executable, "-m", "callboard", "stdio"]
    found = shutil.which(COMMAND[0]) or shutil.which(COMMAND[0], path=str(_programs()))
    return None if found is None else [found, *COMMAND[1:]]


def _programs() -> Path:
    """Where pipx and uv put programs, which applications started from a menu don't look into."""
    return Path.home() / ".local" / "bin"


def _desktop_folder() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Claude"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", Path.home() / "AppData" / "Roaming")) / "Claude"
    return Path.home() / ".config" / "Claude"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("client", choices=sorted(formats()))
    parser.add_argument("--instance", metavar="ID")
    parser.add_argument("--write", action="store_true", help="merge it into the client's file")


def run(arguments: argparse.Namespace) -> int:
    known = formats()[arguments.client]
    instance = None if known.stdio else choose(arguments.instance)
    addition = {known.key: {"callboard": known.entry(instance)}}
    lacks_bridge = known.stdio and bridge() is None
    if not arguments.write:
        print(json.dumps(addition, indent=2))
        if known.path is not None:
            print(f"# for {known.title}: {known.path}", file=sys.stderr)
        if lacks_bridge:
            print(f"# {NO_BRIDGE}", file=sys.stderr)
        return 0
    if lacks_bridge:
        raise PeerError(NO_BRIDGE)
    if known.path is None:
        raise PeerError("that client's file isn't known; print the configuration and paste it")
    merge(known.path, known.key, known.entry(instance))
    return 0


def merge(path: Path, key: str, entry: dict[str, Any]) -> None:
    """Puts the entry into the file, shows the difference, and touches nothing else in it."""
    change = planned(path, key, entry)
    sys.stderr.writelines(change.difference)
    change.write()


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
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        # It holds a token.
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(self.after)
        partial.replace(self.path)


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
