"""The MCP clients that we know: where each keeps its servers, and in which words, as their own
documentation says."""

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

#: What the entry is called in every file.
NAME = "callboard"
#: What starts the bridge where callboard is installed as programs are.
COMMAND = ("callboard", "stdio")


@dataclass(frozen=True)
class ClientFormat:
    """How a client writes its servers: where, under which key, in which words."""

    title: str
    key: str
    #: The file in the project, or else the user's own.
    path: Path | None
    #: It takes no local URL; it starts a program and speaks through its stdin and stdout.
    stdio: bool = False
    #: The file lies in the project, where others see it: no place for a token.
    shared: bool = False
    #: The user's own file where ``path`` is another one: it counts in all projects.
    own: Path | None = None
    #: ``json``, ``jsonc`` (with comments), ``toml`` or ``yaml``.
    syntax: str = "json"
    #: What an address and its headers are called.
    url: str = "url"
    headers: str = "headers"
    #: What stands in every entry, in one with an address, and in one with a program.
    always: Mapping[str, Any] = field(default_factory=dict)
    remote: Mapping[str, Any] = field(default_factory=dict)
    local: Mapping[str, Any] = field(default_factory=dict)
    #: What the program is called.
    program: str = "command"
    #: Where one of these is, the client is on this machine.
    signs: tuple[Path, ...] = ()

    def entry(self, url: str, token: str | None) -> dict[str, Any]:
        """Its entry with an address and a token, for a client that takes one."""
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
        """Its entry with the bridge, which reads the token named ``client`` by itself.
        ``instance`` is for the bridge to choose by; ``command`` is what :func:`bridge` said, for
        who asked it already; ``gateway`` is whether the bridge asks the gateway."""
        program, *arguments = command or bridge() or COMMAND
        chosen = [] if instance is None else ["--instance", instance]
        through = ["--gateway"] if gateway else []
        words = [*arguments, "--client", client, *through, *chosen]
        return {**self.always, **self.local, self.program: program, "args": words}

    def text(self, entry: Mapping[str, Any]) -> str:
        """The entry as a file with nothing else would say it."""
        if self.syntax == "toml":
            return toml_text.with_entry("", self.key, NAME, entry)
        if self.syntax == "yaml":
            return yaml_text.with_entry("", self.key, NAME, entry)
        return json.dumps({self.key: {NAME: entry}}, indent=2, ensure_ascii=False) + "\n"

    @property
    def users(self) -> ClientFormat:
        """The same with the file that is this user's alone."""
        return self if self.own is None else replace(self, path=self.own, own=None, shared=False)

    def is_here(self) -> bool:
        """Whether the client is on this machine, as its folders tell."""
        return any(sign.exists() for sign in self.signs)


def formats() -> dict[str, ClientFormat]:
    """The clients we know, by the name that the command takes."""
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
        # What Windsurf became in June 2026. It infers from the address that it is HTTP.
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


def _lm_studio(home: Path) -> Path:
    """Where LM Studio itself looks: where its pointer says, else in the folder of its first
    versions while that is there."""
    try:
        named = Path((home / ".lmstudio-home-pointer").read_text("utf-8").strip())
    except (OSError, ValueError):
        named = Path()
    older = home / ".cache" / "lm-studio"
    if named.is_absolute():
        return named
    return older if older.is_dir() else home / ".lmstudio"


def _app_folder(name: str) -> Path:
    """Where applications of that kind keep their settings."""
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
