"""The host: an application that callboard lives in. Its ports are the other modules of this room.

Threads: :meth:`Host.post`, :attr:`Host.ports` and :meth:`Host.blocked_by` are called from any
thread. Every other method runs on the host's main thread.
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from callboard.changes import Changes
from callboard.ports.undo import UndoPort

HostEvent = Literal["ports", "scene", "saved", "project", "closing"]
#: The work of a turn on the main thread: it reads the scene, writes files, changes the scene,
#: renders it, or runs code that may do anything.
Work = Literal["read", "files", "change", "render", "script"]


@dataclass(frozen=True)
class HostIdentity:
    """The host's names. ``kind`` is what skills call ``dcc``: ``openusd``, ``blender`` …"""

    kind: str
    name: str
    version: str
    headless: bool = True
    pid: int = 0

    def __post_init__(self) -> None:
        if not self.pid:
            object.__setattr__(self, "pid", os.getpid())


@dataclass(frozen=True)
class PlugIn:
    """The plug-in that brings a capability which isn't built in. ``advice`` tells the artist how to
    get it. ``load`` loads it where it is installed, on the main thread, and raises HostError; it is
    None where the artist has to load it."""

    name: str
    advice: str
    load: Callable[[], None] | None = None


class Host(ABC):
    """An application that callboard lives in."""

    #: The undo port, or None where the host has no undo.
    undo: UndoPort | None = None
    #: True where somebody looks at a window that the main thread draws: callboard's own may be the
    #: only one. Set before the server is made.
    has_windows: bool = False
    #: Where in this application the artist finds callboard, as agents are told.
    where: str = "callboard's panel"
    #: What brings a capability, by its name; constant once the host is made.
    plug_ins: Mapping[str, PlugIn] = MappingProxyType({})

    def __init__(self) -> None:
        self._ports: Mapping[str, object] = MappingProxyType({})
        self._events: Changes[[HostEvent]] = Changes()

    @property
    @abstractmethod
    def identity(self) -> HostIdentity:
        """Constant for the process; any thread."""

    @abstractmethod
    def post(self, fn: Callable[[], None]) -> None:
        """Runs ``fn`` soon on the main thread. Any thread; never blocks or runs ``fn`` itself."""

    @property
    def skill_paths(self) -> Sequence[str]:
        """Absolute folders of skills that come with this host, after the user's own. Any thread."""
        return ()

    @property
    def budget(self) -> float:
        """A step on the main thread holds it for at most this long, seconds."""
        return 1.0 if self._alone else 0.008

    @property
    def burst(self) -> float:
        """A step that served a call waits this long for the next one, seconds, within the budget.
        On Windows a wait may last a tick of the clock, 15.6 ms, so it is 0 beside a window."""
        if self._alone:
            return 0.25
        return 0.0 if sys.platform == "win32" else 0.004

    @property
    def _alone(self) -> bool:
        return self.identity.headless and not self.has_windows

    @property
    def ports(self) -> Mapping[str, object]:
        """Capability to port. Replaced as a whole, never mutated, so any thread may read it."""
        return self._ports

    def leave(self, code: int) -> None:  # noqa: B027 - most hosts end as Python does
        """Called last in a process that was started for this host alone and ends now, with that
        code: for a host whose own way out can't be trusted. Main thread."""

    def close(self) -> None:
        """Stops listening to the application. Idempotent. Main thread."""
        self.announce("closing")

    def set_ports(self, ports: Mapping[str, object]) -> None:
        """Publishes what the host can do now (a plug-in was loaded, a viewport appeared)."""
        self._ports = MappingProxyType(dict(ports))
        self.announce("ports")

    def misreads(self, path: str) -> str | None:
        """The reason why the application would open another file than the one of exactly this
        name, for instance because it replaces variables. It is the rest of a sentence that begins
        with the path, or None. Any thread, so it may not call the host's API."""
        return None

    @property
    def stage(self) -> object | None:
        """The open USD stage, a ``pxr.Usd.Stage``, where the scene is one. Main thread."""
        return None

    def empty_scene(self) -> None:
        """Replaces the scene by an empty one, saved or not: for tests. Main thread."""
        structure: Any = self._ports["structure"]
        structure.new()

    def project_roots(self) -> list[str]:
        """Absolute folders the host calls its project, first one first. Main thread."""
        return []

    def scene_file(self) -> str | None:
        """The open scene's file, absolute; None where it was never saved. Main thread."""
        return None

    def may_run(self, work: Work) -> str | None:
        """The artist's work that ``work`` has to wait for, in the artist's words
        (``dragging Cube``, ``rendering``, a dialog's title); None when it may run now. Asked before
        every turn, so it takes microseconds and changes nothing. Main thread."""
        return None

    def blocked_by(self) -> str | None:
        """The main thread's work, in the artist's words (``rendering``, a dialog's title), or None
        when unknown. Any thread, so it may not call the host's API."""
        return None

    def watch(self, listener: Callable[[HostEvent], None]) -> Callable[[], None]:
        """Calls ``listener(event)`` on whichever thread announces; returns the way to stop."""
        return self._events.watch(listener)

    def announce(self, event: HostEvent) -> None:
        """Tells the listeners that ports, scene or project changed, or the host is closing.
        ``saved``, before ``project``, says that the scene is the same under another file's name:
        without it another file is another scene."""
        self._events.tell(event)
