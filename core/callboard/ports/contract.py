"""The host contract: what callboard needs of an application.

A host owes one thing, :meth:`Host.post`. Everything else is offered through *ports*:
small objects, one per capability, that the bundled skills call. A port that isn't there
is a capability that isn't there; nothing else decides what a host can do.

Threads: :meth:`Host.post`, :attr:`Host.ports` and :meth:`Host.blocked_by` are called from any
thread. Every other method, and every method of a port, runs on the host's main thread.

Conventions of every port. Lengths are scene units, angles degrees, time is in frames, images are
in pixels. Axes are the host's own; ``SceneReader.info`` says which way is up. Transforms are local,
relative to the parent; ``rotate`` is Euler XYZ. An object is named by its bare name where that is
unique, or by the host's full path; answers carry both.
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, Protocol

from callboard.changes import Changes
from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.nearest_names import names_hint
from callboard.ground.nearest_names import nearest_names as nearest_names

Vector = Sequence[float]
PrimitiveKind = Literal["sphere", "cube", "plane", "cylinder", "cone", "torus"]
HostEvent = Literal["ports", "scene", "saved", "project", "closing"]
#: What a turn on the main thread does: reads the scene, writes files, changes the scene, renders
#: it, or runs code that may do anything.
Work = Literal["read", "files", "change", "render", "script"]

SCENE_READ = "scene.read"
SCENE_MUTATE = "scene.mutate"
FILESYSTEM_READ = "filesystem.read"
FILESYSTEM_WRITE = "filesystem.write"
USD = "usd"
VIEWPORT = "viewport"
ANIMATION = "animation"
RENDER = "render"
SCRIPT = "script.execute"


@dataclass(frozen=True)
class HostIdentity:
    """Who this host is. ``kind`` is what skills call ``dcc``: ``openusd``, ``blender`` …"""

    kind: str
    name: str
    version: str
    headless: bool = True
    pid: int = 0

    def __post_init__(self) -> None:
        if not self.pid:
            object.__setattr__(self, "pid", os.getpid())


class ObjectNotFound(HostError, LookupError):
    """No object of that name. ``nearest`` holds the closest names, best first."""

    def __init__(self, name: str, nearest: Sequence[str]) -> None:
        hint = names_hint(name, nearest) or "; the scene is empty"
        super().__init__(f"no object named '{name}'{hint}. List names with scene__list_objects.")
        self.name = name
        self.nearest = list(nearest)


class AmbiguousName(HostError, LookupError):
    """Several objects have that bare name; ``paths`` are the full paths to choose from."""

    def __init__(self, name: str, paths: Sequence[str]) -> None:
        super().__init__(f"'{name}' names {len(paths)} objects; use one of: {', '.join(paths)}")
        self.name = name
        self.paths = list(paths)


class SceneReader(Protocol):
    """Capability ``scene.read``. Objects are dicts with at least
    ``name, path, type, parent, children, translate, rotate, scale, visible``;
    ``type`` is a primitive kind where it is one, else the host's own word in lower case;
    ``color`` is ``[r, g, b]`` in 0..1, linear, or None;
    ``bounds`` is ``{min, max}`` in world space, of the object with its descendants, or None.
    Where the next load of the saved file may show something else than what is read now (a
    constraint moves the object, an opinion isn't saved), ``doubt`` says why; else it is absent.
    """

    def info(self) -> Json:
        """``{file, modified, units_per_meter, up_axis, frame_range, fps, object_count,
        selection}``."""

    def names(self) -> list[str]:
        """Every object's full path, in scene order."""

    def get(self, name: str) -> Json:
        """One object. Raises ObjectNotFound or AmbiguousName."""

    def details(self, name: str) -> Json:
        """What it has besides: ``materials``, paths; ``modifiers``, ``{name, type, shown}``; a
        camera's ``lens``, millimetres; a light's ``energy`` or ``intensity``; ``keys``, the first
        frames with one, and ``key_count``. Optional."""

    def summaries(self) -> Iterable[Json]:
        """``{name, path, type, parent}`` of every object, in scene order. What has a length and
        takes slices as well makes a page cost what it shows, not what the scene holds; it may be
        read on after the scene changed, and tells of what is gone by its name alone. Where a slice
        has ``named(fits)``, those alone whose bare name fits, no entry is made of the others."""

    def selection(self) -> list[str]:
        """Full paths of what is selected, in selection order where the host knows it."""


class SceneEditor(Protocol):
    """Capability ``scene.mutate``. Each method does one thing and returns the full path of what it
    touched; the ``scene`` skill reads back and verifies. Errors raise before anything changes
    where that can be known, else the caller's undo step is rolled back.
    """

    def create(self, kind: PrimitiveKind, name: str | None, dimensions: Mapping[str, float]) -> str:
        """``dimensions`` has just the keys that fit the kind: radius; size; width, depth; radius,
        height; major_radius, minor_radius. Centred on the origin, axis along the host's up axis.
        A taken name gets the host's own suffix."""

    def set_transform(
        self, name: str, translate: Vector | None, rotate: Vector | None, scale: Vector | None
    ) -> str:
        """Sets the local components that aren't None."""

    def set_parent(self, name: str, parent: str | None, keep_world: bool) -> str: ...

    def rename(self, name: str, new_name: str) -> str: ...

    def delete(self, names: Sequence[str]) -> list[str]:
        """Deletes the objects with their descendants; returns every path removed."""

    def duplicate(self, name: str, new_name: str | None) -> str:
        """Copies the object with its descendants, beside it."""

    def select(self, names: Sequence[str]) -> list[str]:
        """Replaces the selection."""

    def set_color(self, name: str, color: Vector) -> str:
        """Gives the object a material, or display colour, of its own with this linear RGB, 0..1."""


class SceneFiles(Protocol):
    """Opening and saving scenes: opening needs ``filesystem.read``, saving ``filesystem.write``;
    a host registers the same object under both. Paths are absolute and already checked."""

    #: Suffixes of the scene files that ``save`` writes, the usual one first: ``(".blend",)``.
    suffixes: tuple[str, ...]

    def open(self, path: str) -> Json:
        """Replaces the scene. Returns ``{path, object_count}``."""

    def save(self, path: str | None) -> Json:
        """Saves, under ``path`` where given. Returns ``{path, bytes}``."""


class UsdPort(Protocol):
    """Capability ``usd``."""

    def import_usd(self, path: str, parent: str | None) -> Json:
        """Adds a file's content to the scene. Returns ``{path, created: [paths]}``."""

    def export_usd(self, path: str, selected_only: bool) -> Json:
        """Returns ``{path, bytes, prims}``."""

    def stage_metadata(self, path: str) -> Json:
        """Reads without touching the scene: ``{path, default_prim, up_axis, meters_per_unit,
        start_frame, end_frame, fps, prims, layers}``."""


class RenderPort(Protocol):
    """Capability ``render``. Rendering is sliced: one frame a step. What it returns names in
    ``left_out`` the outputs of the scene's own that a call may not write, where there are any."""

    def still(self, path: str, width: int, height: int, frame: int | None) -> Json:
        """Renders one frame. Returns ``{path, width, height, frame, seconds}``; where the interface
        goes on meanwhile, a generator as :mod:`callboard.ground.unattended` says."""

    def turntable(self, pattern: str, width: int, height: int, frames: int) -> Iterator[Json]:
        """Orbits the camera once around the scene; yields ``{path, frame}`` per frame written.
        Restores the camera when it ends, fails or is closed."""


class ViewportPort(Protocol):
    """Capability ``viewport``: what the artist sees."""

    def capture(self, width: int, height: int) -> bytes:
        """The active 3D view, drawn at exactly that size, as PNG; the view itself stays as it
        is."""


class AnimationPort(Protocol):
    """Capability ``animation``. A key is ``{frame, translate?, rotate?, scale?}``, local, with the
    components that have a key there."""

    def timeline(self) -> Json:
        """``{start, end, current, fps}``: the playback range and the current frame."""

    def set_current(self, frame: float) -> None: ...
    def set_range(self, start: float, end: float) -> None: ...
    def set_fps(self, fps: float) -> None:
        """Frames a second; keys stay at their frames. Optional, as are the next two."""

    def interpolations(self, name: str) -> Mapping[float, str]:
        """How it goes on from each key: ``constant``, ``linear``, ``smooth``, or a host's word."""

    def set_interpolation(self, name: str, frame: float, interpolation: str) -> None: ...

    def keys(self, name: str) -> list[Json]:
        """The object's keys by frame. Empty where it isn't animated by keys."""

    def set_key(
        self,
        name: str,
        frame: float,
        translate: Vector | None,
        rotate: Vector | None,
        scale: Vector | None,
    ) -> str:
        """Keys the components that aren't None; replaces what was keyed there. Returns the path."""

    def delete_keys(self, name: str, start: float, end: float) -> int:
        """Deletes the object's keys from ``start`` to ``end``, both included; how many frames had
        one."""

    def bake(self, names: Sequence[str], start: int, end: int, step: int) -> list[str]:
        """Keys the local transform at every ``step``-th frame, in place of whatever moved the
        objects: constraints, expressions, other keys. Returns the paths."""


class ScriptPort(Protocol):
    """Capability ``script.execute``: code of the agent's, run as the artist would run it."""

    def languages(self) -> list[str]:
        """``python`` first, then the host's own, such as ``mel``."""

    def execute(self, code: str, language: str) -> object:
        """Runs it; returns the value of its last expression, or None. What it prints goes to
        ``sys.stdout``; what it raises is raised."""


class UndoPort(Protocol):
    """One undo step per call, or per visit of a call that lets the artist go on in between. Every
    method runs on the main thread, steps never nest."""

    #: Whether ``join`` makes one step of the artist's own list; else each stays one there.
    joins: bool
    #: Tells which steps, by id, somebody undid (True) or did again (False) without being asked to
    #: here: the artist with Ctrl+Z, a script. Only where the application lets that be known.
    stepped: Changes[[Sequence[str], bool]]

    def begin(self, label: str) -> object:
        """Starts a step; the token goes to ``commit`` or ``rollback``."""

    def commit(self, token: object) -> str | None:
        """Ends it. The undo id; None when nothing changed, empty for what can't be undone."""

    def rollback(self, token: object) -> bool:
        """Puts back what was there at ``begin``. False where the host can't."""

    def undo(self, undo_id: str) -> bool:
        """Undoes that step if it is the newest one; else False."""

    def redo(self, undo_id: str) -> bool:
        """Does again what was undone last, if nothing was changed since; else False."""

    def join(self, undo_ids: Sequence[str]) -> str | None:
        """Makes one of the newest steps, oldest first; its id. None where others lie on any."""


@dataclass(frozen=True)
class PlugIn:
    """What a capability comes with where it isn't built in. ``advice`` tells the artist how to get
    it; ``load`` loads what is installed, and raises HostError. Main thread. None where the host
    can't be told to."""

    name: str
    advice: str
    load: Callable[[], None] | None = None


class Host(ABC):
    """An application that callboard lives in."""

    #: The undo port, or None where the host has no undo.
    undo: UndoPort | None = None
    #: Whether somebody looks at a window that the main thread draws: callboard's own may be the
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
        """How long a step that served a call waits for the next one, seconds, within the budget. On
        Windows that may last a tick of the clock, 15.6 ms: beside a window there is none."""
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
        """Why the application would open something else than the file of exactly this name: it
        replaces variables, say. The rest of a sentence that begins with the path, None where it
        would not. Any thread, so it may not call the host's API."""
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
        """What the artist is doing that ``work`` has to wait for, in the artist's words
        (``dragging Cube``, ``rendering``, a dialog's title); None when it may run now. Asked before
        every turn, so it takes microseconds and changes nothing. Main thread."""
        return None

    def blocked_by(self) -> str | None:
        """What the main thread is busy with, in the artist's words (``rendering``, a dialog's
        title), or None when unknown. Any thread, so it may not call the host's API."""
        return None

    def watch(self, listener: Callable[[HostEvent], None]) -> Callable[[], None]:
        """Calls ``listener(event)`` on whichever thread announces; returns the way to stop."""
        return self._events.watch(listener)

    def announce(self, event: HostEvent) -> None:
        """Tells the listeners that ports, scene or project changed, or the host is closing.
        ``saved``, before ``project``, says that the scene is the same under another file's name:
        without it another file is another scene."""
        self._events.tell(event)
