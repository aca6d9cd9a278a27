"""The settings of one server."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from callboard.workspace.containment import RootsPolicy

#: What a request's first line and its headers carry as it is.
_PLAIN = re.compile(r"[!-~]+")


@dataclass(frozen=True)
class ExportTarget:
    """Where records go. ``url`` is http(s), with or without ``/ingest``; times are seconds."""

    url: str
    project_id: str
    secret: str | None = field(default=None, repr=False)
    batch: int = 50
    every: float = 5.0
    timeout: float = 10.0
    longest_wait: float = 300.0

    def __post_init__(self) -> None:
        parts = urllib.parse.urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the ingest URL must begin with http:// or https:// and name a host")
        _ = parts.port  # raises ValueError where it is none
        if not _PLAIN.fullmatch(self.url):
            raise ValueError("the ingest URL has a character that must be percent-encoded")
        if self.secret and not _PLAIN.fullmatch(self.secret):
            raise ValueError("the ingest's secret has a character that no header can carry")
        if not self.project_id:
            raise ValueError("the ingest needs a project id")

    @property
    def endpoint(self) -> str:
        url = self.url.rstrip("/")
        return url if url.endswith("/ingest") else f"{url}/ingest"

    @property
    def key(self) -> str:
        """What the database remembers it by."""
        return f"{self.endpoint} {self.project_id}"


@dataclass(eq=False, repr=False)
class McpHttpConfig:
    """What ``start`` and ``create_skill_server`` take; change it before the server starts.

    ``port`` 0 lets the system choose. ``token`` is made up where ``auth`` wants one.
    ``declared_capabilities`` None means: what the host's ports say.
    """

    port: int = 0
    auth: Literal["token", "none"] = "token"
    token: str | None = None
    declared_capabilities: list[str] | None = None
    #: Capabilities withdrawn from the start.
    deny: Sequence[str] = ()
    #: Capabilities offered though nobody is there to be asked: ``script.execute``.
    allow: Sequence[str] = ()
    #: Whether skills are looked for at all.
    skills: bool = True
    #: Folders of skills, besides the environment's and the bundled ones.
    skill_paths: Sequence[str | Path] = ()
    #: The artist's own workspace roots, used where the client names none.
    roots: Sequence[str] = ()
    roots_policy: RootsPolicy = "advisory"
    #: Hosts (``name:port``) and Origins allowed besides this machine's own.
    allowed_hosts: Sequence[str] = ()
    allowed_origins: Sequence[str] = ()
    max_sessions: int = 256
    session_idle_secs: float = 3600.0
    #: Whether the instance is written down where ``callboard list`` and its friends look.
    announce: bool = True
    enable_prompts: bool = True
    #: Whether agents are offered the tool that says what no tool here can do.
    capture_missing_capabilities: bool = True
    #: Whether tools take an optional parameter in which agents say why they call.
    capture_intent: bool = False
    #: Whether calls are written down, in the user's data folder.
    records: bool = True
    #: Whether what they answered is kept, too, for skills to be made of them.
    record_results: bool = False
    #: Where they are also sent; without it, where ``CALLBOARD_EXPORT_URL`` says, else nowhere.
    export: ExportTarget | None = None
    #: Whether what the artist decides is kept for the project, in the user's data folder.
    rules: bool = True
    #: Seconds a call without ``timeout_hint_secs`` may take.
    call_timeout: float = 300.0
    #: Capabilities that a site forbids: nobody restores them here.
    forbidden: Sequence[str] = ()
    #: Whether a site wants strict roots, which nobody loosens here.
    always_strict: bool = False
    #: Whether changed skills are looked for, because a network drive tells of no changes.
    poll_skills: bool = False
    #: The scheduler of the farm that agents may map tools over, such as ``tcp://127.0.0.1:8786``;
    #: empty for none.
    farm_scheduler: str = ""
    #: CA, certificate and key, PEM files, where that farm is guarded by them.
    farm_tls: Sequence[str] = ()
    #: Tasks that one map may have.
    farm_limit: int = 1000
    #: The command line of a callboard that has Dask; found where it isn't named.
    farm_command: Sequence[str] = ()
