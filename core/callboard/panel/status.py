"""The state that a user interface shows, as an immutable snapshot, and notifications of new
snapshots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

from callboard.calls.change_history import SceneChange, agents_turn
from callboard.calls.consent import Decision
from callboard.changes import Changes

__all__ = [
    "OTHER_MACHINE",
    "BundleStatus",
    "CallStatus",
    "CapabilityStatus",
    "ClientStatus",
    "GrantStatus",
    "PathAnswer",
    "PromptStatus",
    "PromptsStatus",
    "QuestionStatus",
    "RootStatus",
    "SceneChange",
    "SkillStatus",
    "Snapshot",
    "StatusFeed",
    "TokenStatus",
    "ToolStatus",
    "UndoAnswer",
    "agents_turn",
]


@dataclass(frozen=True)
class RootStatus:
    """One workspace root. ``path`` is None when the root isn't a folder on this machine."""

    uri: str
    name: str
    path: str | None
    source: str
    read_only: bool


@dataclass(frozen=True)
class ClientStatus:
    """One session, or one stateless client that called recently. ``id`` identifies it."""

    id: str
    name: str
    version: str
    era: str
    roots: tuple[RootStatus, ...] = ()
    roots_problem: str | None = None
    #: The name of the client's token.
    holder: str = ""


@dataclass(frozen=True)
class TokenStatus:
    """One client that may connect, whether or not it is connected. ``last_seen`` and ``made`` are
    Unix time in seconds, or None when unknown."""

    name: str
    connected: bool
    last_seen: float | None
    made: float | None


@dataclass(frozen=True)
class GrantStatus:
    """One rule that the artist made. ``tool`` is None if the rule covers every tool that
    ``subject`` is about. ``made`` is Unix time in seconds."""

    id: str
    client: str
    subject: str
    tool: str | None
    scope: str
    made: float
    by: str


@dataclass(frozen=True)
class CallStatus:
    """One running or waiting call. ``started`` is Unix time in seconds."""

    id: str
    tool: str
    client: str
    state: str
    started: float
    done: float | None = None
    total: float | None = None
    message: str | None = None
    arguments: Any = None
    #: The artist's action that the call is waiting for.
    held_by: str | None = None


#: The subject of a question about a client on another machine, which isn't about a call.
OTHER_MACHINE = "other_machine"
_CHOICES: dict[str, tuple[Decision, ...]] = {
    OTHER_MACHINE: ("allow", "refuse"),
    # A client's folders are allowed for a session at most, because a project's settings keep only
    # the artist's own folders.
    "client_roots": ("allow", "allow_session", "refuse"),
    "farm": ("allow", "refuse"),  # The artist is asked about every map.
}


@dataclass(frozen=True)
class QuestionStatus:
    """One question to the artist. ``deadline`` is Unix time in seconds, or 0 if there is no
    deadline. ``tool`` is empty when the question isn't about a call."""

    id: str
    tool: str
    client: str
    subject: str
    why: str
    arguments: Any
    deadline: float
    #: The name of the client's token, and the answer that a yes means unless the artist chooses a
    #: different one.
    holder: str = ""
    suggests: str = "allow"

    @property
    def choices(self) -> tuple[Decision, ...]:
        """The possible answers."""
        return _CHOICES.get(self.subject, get_args(Decision))


@dataclass(frozen=True)
class CapabilityStatus:
    """One capability. ``unlocks`` counts the tools that need it. If it isn't offered, ``plug_in``
    and ``advice`` describe how to get it, as far as the host knows. ``loadable`` is true when the
    host can load the plug-in now."""

    name: str
    offered: bool
    withdrawn: bool
    unlocks: int
    plug_in: str = ""
    advice: str = ""
    loadable: bool = False


@dataclass(frozen=True)
class ToolStatus:
    """One served tool. ``missing`` are the capabilities that it needs and that aren't offered now.
    ``title`` is its human-readable title, or empty."""

    name: str
    description: str
    skill: str | None
    requires: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True)
class SkillStatus:
    name: str
    description: str
    path: str
    scope: str
    loaded: bool
    tools: int
    failures: tuple[str, ...] = ()
    #: The preferred host capabilities that this host doesn't provide to its bundle.
    missing: tuple[str, ...] = ()
    #: True when the skill is loaded by the first call to one of its tools.
    when_called: bool = False


@dataclass(frozen=True)
class BundleStatus:
    """One installed bundle, and the host capabilities that its manifest names. ``missing`` are the
    capabilities that it doesn't get. ``problem`` is the reason why its own server doesn't run."""

    name: str
    version: str
    description: str
    required: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    problem: str | None = None


@dataclass(frozen=True)
class PromptStatus:
    """One served prompt. ``source`` is the kind of file that it comes from."""

    name: str
    description: str
    skill: str
    source: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class PromptsStatus:
    """The prompts, and the problems in their files: ``(skill, "file:line: message")``."""

    prompts: tuple[PromptStatus, ...] = ()
    failures: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class PathAnswer:
    """The result of resolving a path for a call. ``resolved`` is None when the path is refused.
    ``reason`` says why, or which root contains it."""

    resolved: str | None
    reason: str


@dataclass(frozen=True)
class UndoAnswer:
    """The number of changes that were undone, and the number left as they are. ``problem`` is the
    application's error. When changes are left and ``problem`` is empty, a change that callboard
    didn't make lies on top of them."""

    undone: int
    left: int
    problem: str = ""


@dataclass(frozen=True)
class Snapshot:
    """The state of one server at one moment."""

    host_kind: str = ""
    host_name: str = ""
    host_version: str = ""
    serving: bool = False
    paused: bool = False
    #: The reason why the machine's policy doesn't let this server answer anything now, or empty.
    switched_off: str = ""
    #: Number of calls that the artist's Stop ended, or 0 once calls are accepted again.
    stopped: int = 0
    url: str = ""
    #: The open scene's file, or empty when the scene was never saved.
    scene: str = ""
    stalled_ms: int = 0
    #: The host's description of the work that keeps the main thread busy, or else the call.
    stalled_by: str | None = None
    queued: int = 0
    clients: tuple[ClientStatus, ...] = ()
    #: The artist's own roots and the host's project, in the order in which they are used.
    roots: tuple[RootStatus, ...] = ()
    roots_policy: str = "advisory"
    capabilities: tuple[CapabilityStatus, ...] = ()
    tools: tuple[ToolStatus, ...] = ()
    calls: tuple[CallStatus, ...] = ()
    questions: tuple[QuestionStatus, ...] = ()
    policies: tuple[tuple[str, str], ...] = ()
    grants: tuple[GrantStatus, ...] = ()
    #: The clients that may connect.
    tokens: tuple[TokenStatus, ...] = ()
    skills: tuple[SkillStatus, ...] = ()
    bundles: tuple[BundleStatus, ...] = ()
    #: The changes that this server's calls made, oldest first.
    changes: tuple[SceneChange, ...] = ()
    #: Sentences about data that isn't kept because of a problem with the disk, or empty.
    not_kept: str = ""
    #: Number of calls that ended, so that a view knows when to read the records again.
    ended_calls: int = 0


class StatusFeed:
    """The newest snapshot. Use it from any thread. Listeners are called on the server's thread, so
    they must post to their own thread and return."""

    def __init__(self, wanted: Callable[[], None] = lambda: None) -> None:
        """``wanted`` is called when a listener is added, so that a snapshot is made for it."""
        self._snapshot = Snapshot()
        self._changes: Changes[[Snapshot]] = Changes()
        self._wanted = wanted

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    @property
    def wanted(self) -> bool:
        """True while there are listeners."""
        return self._changes.watched

    def publish(self, snapshot: Snapshot) -> None:
        """Replace the snapshot, and notify all listeners if it differs."""
        if snapshot == self._snapshot:
            return
        self._snapshot = snapshot
        self._changes.tell(snapshot)

    def watch(self, listener: Callable[[Snapshot], None]) -> Callable[[], None]:
        """Call ``listener`` with every new snapshot. Return a function that removes the
        listener."""
        stop = self._changes.watch(listener)
        self._wanted()
        return stop
