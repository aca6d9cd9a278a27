"""The host: an application in which callboard runs. Its ports are the other modules of this folder.

Threads: every method runs on the host's main thread, unless its description says that it may be
called from any thread.
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
#: The kinds of turns on the main thread. A turn reads the scene, writes files, changes the scene,
#: renders it, or runs code that may do anything.
Work = Literal["read", "files", "change", "render", "script"]


@dataclass(frozen=True)
class HostIdentity:
    """The identity of a host. ``kind`` is the value that skills call ``dcc``: ``openusd``,
    ``blender`` … ``program`` is the command that starts the same application without a window, and
    runs the Python code that follows as the last argument. It is empty if there is no such command,
    or if ``callboard serve`` has no host of this kind."""

    kind: str
    name: str
    version: str
    headless: bool = True
    pid: int = 0
    program: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.pid:
            object.__setattr__(self, "pid", os.getpid())


@dataclass(frozen=True, eq=False)
class PlugIn:
    """The plug-in that provides a capability that isn't built in. ``advice`` tells the artist how
    to get it. ``load`` loads the installed plug-in on the main thread, and raises HostError; it is
    None when only the artist can load the plug-in."""

    name: str
    advice: str
    load: Callable[[], None] | None = None


class Host(ABC):
    """An application in which callboard runs."""

    #: The undo port, or None when the host has no undo.
    undo: UndoPort | None = None
    #: True when the main thread draws a window that a person sees, even if it is only callboard's
    #: own window. Set before the server is made.
    has_windows: bool = False
    #: The location of callboard's panel in this application, such as a menu entry. Agents pass it
    #: on to the artist.
    where: str = "callboard's panel"
    #: The application's data and pitfalls, in at most 900 characters. Agents read it first.
    guide: str = ""
    #: The plug-ins by the capability that they provide; constant once the host is made.
    plug_ins: Mapping[str, PlugIn] = MappingProxyType({})
    #: Functions with which the self-test does what an artist would do, by name. Each one runs on
    #: the main thread and returns at once. ``undo()`` undoes as Ctrl+Z does. ``play(seconds)``
    #: plays the animation, and ``dialog(title, seconds)`` opens a modal dialog; both end on their
    #: own. ``window(state)`` makes the main window ``covered``, ``minimized`` or ``shown``.
    #: ``renderers()`` lists the renderers, and ``use_renderer(name)`` chooses one. ``menus()``
    #: returns the items of every menu that the adapter sets, by type and property. ``toolkit()``
    #: returns the name and the version of the toolkit that draws the windows. ``new_scene()``
    #: replaces ``empty_scene``.
    acts: Mapping[str, Callable[..., Any]] = MappingProxyType({})

    def __init__(self) -> None:
        self._ports: Mapping[str, object] = MappingProxyType({})
        self._events: Changes[[HostEvent]] = Changes()

    @property
    @abstractmethod
    def identity(self) -> HostIdentity:
        """The host's identity, constant for the process. Read it from any thread."""

    @abstractmethod
    def post(self, fn: Callable[[], None]) -> None:
        """Run ``fn`` soon on the main thread. Call it from any thread. It never blocks or runs
        ``fn`` itself."""

    @property
    def skill_paths(self) -> Sequence[str]:
        """The absolute paths of the folders of skills that come with this host, which are searched
        after the user's own. Read them from any thread."""
        return ()

    @property
    def budget(self) -> float:
        """The longest time that a step may hold the main thread, in seconds."""
        return 1.0 if self._alone else 0.008

    @property
    def burst(self) -> float:
        """The number of seconds, within the budget, that a step waits for another call after it has
        served one. On Windows, even a short wait may last a whole clock tick (15.6 ms), so this is
        0 in an application with a window."""
        if self._alone:
            return 0.25
        return 0.0 if sys.platform == "win32" else 0.004

    @property
    def _alone(self) -> bool:
        return self.identity.headless and not self.has_windows

    @property
    def ports(self) -> Mapping[str, object]:
        """The ports by capability. The mapping is replaced as a whole, never mutated, so any thread
        may read it."""
        return self._ports

    def leave(self, code: int) -> None:  # noqa: B027 - most hosts end as Python does
        """End the process with that code, if the host's own exit can't be trusted. Called last on
        the main thread, in a process that was started for this host alone."""

    def close(self) -> None:
        """Stop listening to the application. Call it on the main thread. Idempotent."""
        self.announce("closing")

    def set_ports(self, ports: Mapping[str, object]) -> None:
        """Publish the current ports after a change (a plug-in was loaded, a viewport appeared)."""
        self._ports = MappingProxyType(dict(ports))
        self.announce("ports")

    def misreads(self, path: str) -> str | None:
        """Return why the application would open a file other than the one with exactly this name,
        for example because it replaces variables. The text continues a sentence that begins with
        the path. Return None when the name is safe. Called from any thread, so it must not call the
        host's API."""
        return None

    @property
    def stage(self) -> object | None:
        """The open USD stage, a ``pxr.Usd.Stage``, if the scene is one. Read it on the main
        thread."""
        return None

    def empty_scene(self) -> None:
        """Replace the scene with an empty one, even if it has unsaved changes. For tests. Call it
        on the main thread."""
        structure: Any = self._ports["structure"]
        structure.new()

    def project_roots(self) -> list[str]:
        """Return the absolute paths of the folders that the host calls its project, the main one
        first. Runs on the main thread."""
        return []

    def scene_file(self) -> str | None:
        """Return the open scene's file, absolute, or None when it was never saved. Runs on the main
        thread."""
        return None

    def may_run(self, work: Work) -> str | None:
        """Return what ``work`` has to wait for, in the artist's words (``dragging Cube``,
        ``rendering``, a dialog's title), or None when it may run now. Called before every turn on
        the main thread, so it must take microseconds and change nothing."""
        return None

    def blocked_by(self) -> str | None:
        """Return what keeps the main thread busy, in the artist's words (``rendering``, a dialog's
        title), or None when unknown. Called from any thread, so it must not call the host's API."""
        return None

    def watch(self, listener: Callable[[HostEvent], None]) -> Callable[[], None]:
        """Call ``listener(event)`` on the announcing thread. Return a function that removes the
        listener."""
        return self._events.watch(listener)

    def announce(self, event: HostEvent) -> None:
        """Notify the listeners that the ports, the scene or the project changed, or that the host
        is closing. ``saved``, announced before ``project``, means that the same scene has a new
        file name. Without ``saved``, a different file means a different scene."""
        self._events.tell(event)
