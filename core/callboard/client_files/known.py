"""The MCP clients that callboard supports, with the file and the keys that each client uses for its
servers, according to its own documentation."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from callboard.client_files import toml_text, yaml_text
from callboard.ground.folders import site_folder

#: The name of the entry in every file.
NAME = "callboard"
#: The command that starts the bridge when callboard is installed as a program.
COMMAND = ("callboard", "stdio")


@dataclass(frozen=True)
class ClientFormat:
    """The format in which a client lists its servers: the file, the keys and the fixed values."""

    title: str
    key: str
    #: The file in the project, or else the user's own file.
    path: Path | None
    #: True when the client doesn't accept a local URL: it starts a program and uses its stdin and
    #: stdout.
    stdio: bool = False
    #: True when the file is in the project, where others see it, so that it must not contain a
    #: token.
    shared: bool = False
    #: The user's own file, which applies to all projects, if ``path`` is a different file.
    own: Path | None = None
    #: ``json``, ``jsonc`` (with comments), ``toml`` or ``yaml``.
    syntax: str = "json"
    #: The keys for an address and for its headers.
    url: str = "url"
    headers: str = "headers"
    #: Further members of every entry, of entries with an address, and of entries with a program.
    always: Mapping[str, Any] = field(default_factory=dict)
    remote: Mapping[str, Any] = field(default_factory=dict)
    local: Mapping[str, Any] = field(default_factory=dict)
    #: The key of the program.
    program: str = "command"
    #: The client is on this machine when one of these exists.
    signs: tuple[Path, ...] = ()

    def entry(self, url: str, token: str | None) -> dict[str, Any]:
        """Return the entry with an address and a token, for a client that accepts an address."""
        entry: dict[str, Any] = {**self.always, **self.remote, self.url: url}
        if token:
            entry[self.headers] = {"Authorization": f"Bearer {token}"}
        return entry

    def bridge(
        self,
        client: str,
        instance: str | None = None,
        command: Sequence[str] | None = None,
        *,
        gateway: bool = False,
    ) -> dict[str, Any]:
        """Return the entry with the bridge, which itself reads the token named ``client``.
        ``instance`` is the instance that the bridge connects to. ``command`` is the result of
        :func:`bridge`, if it is known already. If ``gateway`` is true, the bridge uses the
        gateway."""
        program, *arguments = command or bridge() or COMMAND
        chosen = [] if instance is None else ["--instance", instance]
        through = ["--gateway"] if gateway else []
        words = [*arguments, "--client", client, *through, *chosen]
        return {**self.always, **self.local, self.program: program, "args": words}

    def text(self, entry: Mapping[str, Any]) -> str:
        """Return the text of a file that holds only this entry."""
        if self.syntax == "toml":
            return toml_text.with_entry("", self.key, NAME, entry)
        if self.syntax == "yaml":
            return yaml_text.with_entry("", self.key, NAME, entry)
        return json.dumps({self.key: {NAME: entry}}, indent=2, ensure_ascii=False) + "\n"

    @property
    def users(self) -> ClientFormat:
        """The same format, with the file that belongs to this user alone."""
        return self if self.own is None else replace(self, path=self.own, own=None, shared=False)

    def is_here(self) -> bool:
        """Return whether the client is on this machine, judging by its folders."""
        return any(sign.exists() for sign in self.signs)


def formats() -> dict[str, ClientFormat]:
    """Return the supported clients, by the names that the command accepts."""
    other = ClientFormat("any other client", "mcpServers", None, remote=_HTTP)
    return {**_assistants(Path.home()), **_editors(Path.home()), "other": other}


_HTTP, _STDIO = {"type": "http"}, {"type": "stdio"}


def _assistants(home: Path) -> dict[str, ClientFormat]:
    claude = _named_folder("CLAUDE_CONFIG_DIR", home) / ".claude.json"
    desktop, gemini, lm_studio = _app_folder("Claude"), home / ".gemini", _lm_studio(home)
    codex = _named_folder("CODEX_HOME", home / ".codex")
    goose = _config_folder() / "goose"
    if sys.platform == "win32":
        goose = _app_folder("Block") / "goose" / "config"
    return {
        "claude-code": ClientFormat(
            "Claude Code",
            "mcpServers",
            Path(".mcp.json").absolute(),
            shared=True,
            own=claude,
            remote=_HTTP,
            signs=(claude, home / ".claude"),
        ),
        "claude-desktop": ClientFormat(
            "Claude Desktop",
            "mcpServers",
            desktop / "claude_desktop_config.json",
            stdio=True,
            signs=(desktop,),
        ),
        "gemini": ClientFormat(
            "Gemini CLI",
            "mcpServers",
            gemini / "settings.json",
            syntax="jsonc",
            url="httpUrl",
            signs=(gemini,),
        ),
        "codex": ClientFormat(
            "Codex CLI",
            "mcp_servers",
            codex / "config.toml",
            syntax="toml",
            headers="http_headers",
            signs=(codex,),
        ),
        "lm-studio": ClientFormat(
            "LM Studio", "mcpServers", lm_studio / "mcp.json", signs=(lm_studio,)
        ),
        "goose": ClientFormat(
            "Goose",
            "extensions",
            goose / "config.yaml",
            syntax="yaml",
            url="uri",
            program="cmd",
            always={"name": NAME, "enabled": True, "timeout": 300},
            remote={"type": "streamable_http"},
            local=_STDIO,
            signs=(goose,),
        ),
    }


def _editors(home: Path) -> dict[str, ClientFormat]:
    vscode, windsurf = _app_folder("Code") / "User", home / ".codeium" / "windsurf"
    zed = _app_folder("Zed") if sys.platform == "win32" else _config_folder() / "zed"
    devin = _app_folder("devin") if sys.platform == "win32" else _config_folder() / "devin"
    return {
        "cursor": ClientFormat(
            "Cursor",
            "mcpServers",
            home / ".cursor" / "mcp.json",
            remote=_HTTP,
            signs=(home / ".cursor",),
        ),
        "vscode": ClientFormat(
            "VS Code",
            "servers",
            Path(".vscode").absolute() / "mcp.json",
            shared=True,
            own=vscode / "mcp.json",
            syntax="jsonc",
            remote=_HTTP,
            local=_STDIO,
            signs=(vscode,),
        ),
        "windsurf": ClientFormat(
            "Windsurf",
            "mcpServers",
            windsurf / "mcp_config.json",
            url="serverUrl",
            signs=(windsurf,),
        ),
        # The successor of Windsurf since June 2026. It infers HTTP from the address.
        "devin": ClientFormat(
            "Devin Desktop", "mcpServers", devin / "mcp_config.json", signs=(devin,)
        ),
        "zed": ClientFormat(
            "Zed",
            "context_servers",
            zed / "settings.json",
            syntax="jsonc",
            always={"source": "custom"},
            signs=(zed,),
        ),
        "jetbrains": ClientFormat(
            "JetBrains Junie",
            "mcpServers",
            home / ".junie" / "mcp" / "mcp.json",
            stdio=True,
            signs=(home / ".junie",),
        ),
    }


def site_launcher() -> str | None:
    """Return the site's program, ``bin/callboard`` in the site's folder, or None. Its path stays
    the same when the site changes to a different version."""
    site = site_folder()
    return None if site is None else shutil.which(COMMAND[0], path=str(site / "bin"))


def bridge() -> list[str] | None:
    """Return the command with which a client can start the bridge on this machine, or None.

    The site's launcher is preferred, because entries last longer than the folder of any one
    version. Inside an application, Python's executable is the application itself, or an interpreter
    with packages other than the application's. So the executable is used only if callboard is
    installed for that interpreter.
    """
    if (launcher := site_launcher()) is not None:
        return [launcher, *COMMAND[1:]]
    if re.fullmatch(r"(python|pypy|mayapy|hython)[\d.]*w?", Path(sys.executable).stem.lower()):
        folders = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        if any(metadata.distributions(name="callboard", path=sorted(folders))):
            return [sys.executable, "-m", "callboard", "stdio"]
    program = shutil.which(COMMAND[0]) or shutil.which(COMMAND[0], path=str(_programs()))
    return None if program is None else [program, *COMMAND[1:]]


def _programs() -> Path:
    """Return the folder in which pipx and uv install programs. Applications don't search it."""
    return Path.home() / ".local" / "bin"


def _lm_studio(home: Path) -> Path:
    """Return the folder that LM Studio uses: the folder that its pointer file names, or else the
    folder of its first versions if it exists, or else the usual folder."""
    try:
        named = Path((home / ".lmstudio-home-pointer").read_text("utf-8").strip())
    except (OSError, ValueError):
        named = Path()
    older = home / ".cache" / "lm-studio"
    if named.is_absolute():
        return named
    return older if older.is_dir() else home / ".lmstudio"


def _app_folder(name: str) -> Path:
    """Return the folder in which the application ``name`` keeps its settings on this system."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / name
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", Path.home() / "AppData" / "Roaming")) / name
    return _config_folder() / name


def _config_folder() -> Path:
    return _named_folder("XDG_CONFIG_HOME", Path.home() / ".config")


def _named_folder(variable: str, otherwise: Path) -> Path:
    named = os.environ.get(variable)
    return Path(named) if named else otherwise
