"""The running Houdini: its thread, its undo list, its file, windows and callbacks."""

from __future__ import annotations

import functools
import inspect
import pickle
import sys
import threading
from pathlib import Path
from typing import Any

from softness import Soft

from ._errors import NotAvailable

HERE = str(Path(__file__).parent)


class Session(Soft):
    """The only session of the process; ``reset`` starts it afresh."""

    def __init__(self) -> None:
        self.scene: Any = None
        self.main = threading.get_ident()
        self.unloaded = False

    def reset(self, new_scene, *, windows: bool) -> None:
        self.harden()
        self.main = threading.get_ident()
        self.windows = windows
        self.new_scene = new_scene
        self.scene = new_scene()
        self.file = ""
        self.modified = False
        self.licence = "Commercial"
        self.undo: list[tuple[str, Any]] = []
        self.redo: list[tuple[str, Any]] = []
        self.undo_on = True
        #: By default hython doesn't record undo steps, and doesn't report this.
        self.keeps_undo = windows
        #: True when recording can be switched on.
        self.undo_can_be_kept = True
        self.group: list[Any] | None = None
        self.depth = 0
        self.variables = {"JOB": str(Path.home()), "HIP": str(Path.cwd())}
        self.unit_length = 1.0
        self.z_up = False
        self.file_callbacks: list[Any] = []
        self.playbar_callbacks: list[Any] = []
        self.selection_callbacks: list[Any] = []
        self.status: list[str] = []
        self.panes: list[Any] = []
        self.interfaces: dict[str, Any] = {}
        self.preferences = ""
        self.graphics_card = True
        #: Suffixes of geometry that this Houdini can't translate.
        self.no_translator: set[str] = set()
        self.view_camera = ""
        #: The artist's viewpoint when the view has no camera.
        self.view_from = (0.0, 0.0, 20.0)
        #: The view's style for each kind of object, and whether it shows materials.
        self.view_modes: dict[str, Any] = {}
        self.view_materials = True
        #: The functions deferred with hdefereval.
        self.deferred: list[Any] = []
        #: The functions called while something renders, and each render's node type and frames.
        self.rendering: list[Any] = []
        self.rendered: list[tuple[Any, ...]] = []
        self.unloaded = False

    # -- the rules ----------------------------------------------------------------------------

    def guard(self, what: str) -> None:
        if threading.get_ident() != self.main:
            raise RuntimeError(f"{what} was called from {threading.current_thread().name}")
        if self.unloaded and _caller().startswith(("callboard_houdini", "callboard_qt")):
            raise RuntimeError(f"{what} was called after the package was unloaded")

    def needs_windows(self, what: str) -> None:
        if not self.windows:
            raise NotAvailable(f"{what} is not available without a user interface")

    def turn(self) -> None:
        """Run one turn of Houdini's own loop."""
        if not self.native_dialog:
            deferred, self.deferred = self.deferred, []
            for each in deferred:
                each()

    # -- undo -----------------------------------------------------------------------------------

    def record(self, label: str) -> None:
        """Record the state before a change that Houdini can undo."""
        self.modified = True
        if not self.undo_on or not self.keeps_undo:
            return
        if self.group is not None:
            if not self.group[2]:
                self.cook()
            self.group[2] = True
        else:
            self.undo.append((label, self.snapshot()))
            self.redo.clear()

    def snapshot(self) -> bytes:
        """Return a copy of the scene. Most copies are never put back, so they aren't unpacked."""
        return pickle.dumps(self.scene, pickle.HIGHEST_PROTOCOL)

    def put_back(self, copied: bytes) -> None:
        """Restore the scene. Houdini doesn't undo selection changes, and restored nodes aren't
        selected."""
        chosen = {node.id for node in self.scene.nodes.values() if node.selected}
        self.scene = scene = pickle.loads(copied)
        for node in scene.nodes.values():
            node.selected = node.id in chosen

    def forget_undo(self) -> None:
        self.undo.clear()
        self.redo.clear()
        if self.group is not None:
            self.group = [self.group[0], self.snapshot(), False]

    # -- Houdini's reports ----------------------------------------------------------------------

    def tell(self, callbacks: list[Any], *arguments: object) -> None:
        for call in list(callbacks):
            call(*arguments)


def guarded(cls):
    """Make every public method of the class check the session's rules before it runs."""
    for name, member in list(vars(cls).items()):
        if name.startswith("_"):
            continue
        plain = member.__func__ if isinstance(member, staticmethod) else member
        if not inspect.isfunction(plain):
            continue
        wrapped = guarded_function(plain, f"hou.{cls.__name__}.{name}")
        setattr(cls, name, staticmethod(wrapped) if isinstance(member, staticmethod) else wrapped)
    return cls


def guarded_function(function, what: str = ""):
    what = what or f"hou.{function.__name__}"

    @functools.wraps(function)
    def run(*arguments, **named):
        session.guard(what)
        return function(*arguments, **named)

    return run


def _caller() -> str:
    """Return the module that called Houdini."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


session = Session()
