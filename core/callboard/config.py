"""The settings of one server."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from callboard.workspace.containment import RootsPolicy

#: Characters that a request's first line and its headers can carry unchanged.
_PLAIN = re.compile(r"[!-~]+")


@dataclass(frozen=True, eq=False)
class ExportTarget:
    """The destination of records. ``url`` is http(s); ``/ingest`` is added if it is missing. Times
    are in seconds."""

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
        _ = parts.port  # raises ValueError if the port is invalid
        if not _PLAIN.fullmatch(self.url):
            raise ValueError("the ingest URL has a character that must be percent-encoded")
        if self.secret and not _PLAIN.fullmatch(self.secret):
            raise ValueError("the ingest's secret has a character that can't be sent in a header")
        if not self.project_id:
            raise ValueError("the ingest needs a project id")

    @property
    def endpoint(self) -> str:
        url = self.url.rstrip("/")
        return url if url.endswith("/ingest") else f"{url}/ingest"

    @property
    def key(self) -> str:
        """The key of this target in the database."""
        return f"{self.endpoint} {self.project_id}"


@dataclass(frozen=True)
class PolicyLocks:
    """The parts of the machine's policy that aren't a server's own settings."""

    #: The policy's name and location, or empty if there is no policy.
    policy: str = ""
    #: False when callboard is switched off.
    enabled: bool = True
    #: The site's folder, if the policy names it, and the site's folders of skills. Skills from
    #: elsewhere can't replace the skills in those folders.
    site: str = ""
    site_skill_paths: Sequence[str] = ()
    #: The folders that every path must be in, regardless of the roots. Empty for no limit.
    roots_limit: Sequence[str] = ()
    #: Folders and digests of the skills and bundles that may be used. None if all may be used.
    skills_from: Sequence[str] | None = None
    bundles_from: Sequence[str] | None = None
    #: The only folders that the tools for assets may use. Empty if they may use any folder.
    assets: Sequence[str] = ()
    #: The least strict policy for each kind of call. Without an artist, a call that the artist has
    #: to allow is refused.
    consent: Mapping[str, str] = field(default_factory=dict)
    #: The least detailed level that the log file may have: ``debug``, ``info`` or ``warning``.
    log_level: str = ""


@dataclass(eq=False, repr=False)
class McpHttpConfig:
    """The settings for ``start`` and ``create_skill_server``; change them before the start.

    ``port`` 0 lets the system choose. ``token`` is generated when ``auth`` needs one. If
    ``declared_capabilities`` is None, the host's ports determine the capabilities.
    """

    port: int = 0
    auth: Literal["token", "none"] = "token"
    token: str | None = None
    declared_capabilities: list[str] | None = None
    #: Capabilities withdrawn from the start.
    deny: Sequence[str] = ()
    #: Capabilities offered even if no artist can be asked, and even if they are off by default.
    allow: Sequence[str] = ()
    #: True to search for skills.
    skills: bool = True
    #: Folders of skills, in addition to the environment's and the bundled ones.
    skill_paths: Sequence[str | Path] = ()
    #: The artist's own workspace roots. They limit a client's roots, and are used if it has none.
    roots: Sequence[str] = ()
    roots_policy: RootsPolicy = "advisory"
    #: Hosts (``name:port``) and Origins allowed in addition to this machine's own.
    allowed_hosts: Sequence[str] = ()
    allowed_origins: Sequence[str] = ()
    max_sessions: int = 256
    session_idle_secs: float = 3600.0
    #: True to announce the instance, so that ``callboard list`` and other programs find it.
    announce: bool = True
    enable_prompts: bool = True
    #: True to offer agents a tool for reporting tasks that no tool here can do.
    capture_missing_capabilities: bool = True
    #: True to give tools an optional parameter in which agents say why they call the tool.
    capture_intent: bool = False
    #: True to record calls in the user's data folder; ``required`` to refuse calls that can't be
    #: recorded.
    records: bool | Literal["required"] = True
    #: True to record the results too, so that skills can be made from them.
    record_results: bool = False
    #: Days and megabytes beyond which the oldest records are deleted.
    record_days: int = 90
    record_mb: int = 256
    #: Where records are also sent: ``file:///PATH``, ``syslog:``, ``syslog://HOST:PORT`` or
    #: ``otlp:URL``.
    records_to: Sequence[str] = ()
    #: The target to which records are also sent; None uses ``CALLBOARD_EXPORT_URL``, if set.
    export: ExportTarget | None = None
    #: True to keep the artist's decisions for the project, in the user's data folder.
    rules: bool = True
    #: Seconds that a call without ``timeout_hint_secs`` may take.
    call_timeout: float = 300.0
    #: Capabilities that a site forbids; they can't be restored in this server.
    forbidden: Sequence[str] = ()
    #: True when a site requires strict roots, which can't be loosened here.
    always_strict: bool = False
    #: True to poll for changed skills, because a network drive doesn't report changes.
    poll_skills: bool = False
    #: The scheduler of the farm that agents may map tools over, such as ``tcp://127.0.0.1:8786``;
    #: empty for none.
    farm_scheduler: str = ""
    #: CA, certificate and key of that farm, as PEM files, if it needs them.
    farm_tls: Sequence[str] = ()
    #: Maximum number of tasks in one map.
    farm_limit: int = 1000
    #: The command line of a callboard that has Dask; if empty, the command is searched for.
    farm_command: Sequence[str] = ()
    #: The settings that the machine's policy locks. The server sets this when it starts.
    locks: PolicyLocks = PolicyLocks()
