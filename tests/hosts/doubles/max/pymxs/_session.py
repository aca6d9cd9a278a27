"""The running 3ds Max: its thread, its undo list, its file, windows and callbacks."""

from __future__ import annotations

import copy
import re
import sys
import threading
from pathlib import Path
from typing import Any

from softness import Soft

HERE = str(Path(__file__).parent)

#: The general events of 3ds Max that are modelled.
EVENTS = {
    *("systemPreNew", "systemPostNew", "systemPreReset", "systemPostReset"),
    *("filePreOpen", "filePostOpen", "fileOpenFailed", "filePreSave", "filePostSave"),
    *("filePreMerge", "filePostMerge", "preRender", "postRender", "preSystemShutdown"),
    *("selectionSetChanged", "nodeCreated", "nodePostDelete", "sceneUndo", "sceneRedo"),
}


class Session(Soft):
    """The only session of the process; ``reset`` starts it afresh."""

    def __init__(self) -> None:
        self.main = threading.get_ident()
        self.unloaded = False

    def reset(self, new_scene, *, windows: bool, usd: bool) -> None:
        self.harden()
        self.main = threading.get_ident()
        self.windows = windows
        self.usd = usd
        self.new_scene = new_scene
        self.scene = new_scene()
        self.file = ""
        self.modified = False
        self.project = "/projects/default"
        self.units = ["inches", 1.0]
        self.undo: list[tuple[str, Any]] = []
        self.redo: list[tuple[str, Any]] = []
        self.hold: list[Any] | None = None
        self.undo_off = 0
        self.puts = 0
        self.time: float | None = None
        self.animating = False
        #: (event, function or script, id)
        self.callbacks: list[tuple[str, Any, str]] = []
        self.ini: dict[tuple[str, str], str] = {}
        self.prompts: list[str] = []
        self.bitmaps = 0
        self.renderer = "Arnold"
        self.arnold = True
        #: Controllers by their owner's number and their property.
        self.controllers: dict[tuple[int, str], Any] = {}
        self.view_camera = ""
        #: Each view's type, transform and angle. The camera belongs to the second view.
        above = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -300.0]]
        self.views = [["view_top", above, 45.0], ["view_persp_user", above, 45.0]]
        self.active_view = 2
        self.safe_frames = True
        self.view_settings = {
            "VisualStyleMode": "Realistic",
            "ShowEdgedFacesEnabled": True,
            "ShowSelectionBracketsEnabled": True,
        }
        self.grids = {1: True, 2: True}
        self.hidden = {"lights": False, "cameras": False, "helpers": False}
        self.cancel_renders = False
        #: True if scripts can move an XRef. The manual describes an offset for the artist's
        #: changes, and says nothing about scripts.
        self.xrefs_move = True
        #: Plug-ins that were loaded before their first use.
        self.loaded: set[Any] = set()
        #: Settings of the FBX plug-in that can't be changed.
        self.stubborn: set[str] = set()
        #: The settings of the FBX plug-in's dialogs; empty when it isn't installed.
        self.fbx: dict[str, dict[str, Any]] = {}
        #: The number of mesh copies that haven't been freed.
        self.snapshots = 0
        #: The frames that were rendered, each with its camera.
        self.rendered: list[tuple[float, int]] = []
        self.render_node = False
        #: True while the views show an older state: Python's changes don't redraw them.
        self.stale = False
        self.accelerators_off: list[Any] = []
        self.unloaded = False

    # -- the rules ----------------------------------------------------------------------------

    def guard(self, what: str) -> None:
        if threading.get_ident() != self.main:
            raise RuntimeError(f"{what} was called from {threading.current_thread().name}")
        if self.unloaded and _caller().startswith(("callboard_max", "callboard_qt")):
            raise RuntimeError(f"{what} was called after the bundle was unloaded")

    def needs_windows(self, what: str) -> None:
        if not self.windows:
            raise RuntimeError(f"{what} is not available without a GUI")

    # -- undo -----------------------------------------------------------------------------------

    def record(self) -> None:
        """Record the state before a change that 3ds Max can undo. Python's changes outside
        ``pymxs.undo`` are not recorded."""
        self.modified = self.stale = True
        if self.hold is not None and not self.undo_off:
            if not self.hold[2]:
                self.cook()
            self.hold[2] = True
            self.puts += 1

    def artist(self, work: Any) -> None:
        """Do the artist's work. 3ds Max always records it for undo."""
        before = copy.deepcopy(self.scene)
        work()
        self.puts += 1
        self.add_undo("Artist", before)

    def add_undo(self, label: str, before: Any) -> None:
        self.undo.append((label, before))
        self.redo.clear()

    def undo_newest(self) -> None:
        """Undo the newest step. Does nothing, silently, if there is none or while a step is
        open."""
        if not self.undo or self.hold is not None:
            return
        label, before = self.undo.pop()
        self.redo.append((label, self.scene))
        self._went_to(before, "sceneUndo")

    def redo_next(self) -> None:
        """Redo the next step, under the conditions of :meth:`undo_newest`."""
        if not self.redo or self.hold is not None:
            return
        label, after = self.redo.pop()
        self.undo.append((label, self.scene))
        self._went_to(after, "sceneRedo")

    def _went_to(self, scene: Any, event: str) -> None:
        scene.sets, self.scene = self.scene.sets, scene
        self.modified = self.stale = True
        self.report(lambda: self.tell(event))

    def forget_undo(self) -> None:
        self.undo.clear()
        self.redo.clear()
        if self.hold is not None:
            self.hold = [self.hold[0], copy.deepcopy(self.scene), False]

    # -- 3ds Max's reports ------------------------------------------------------------------------

    def tell(self, event: str) -> None:
        for wanted, act, _ in list(self.callbacks):
            if wanted != event:
                continue
            if callable(act):
                act()
            else:
                code = re.fullmatch(r'python\.Execute "(.*)"', act)
                exec(code[1], {})


class _Context:
    """A context manager for one of 3ds Max's ``with`` blocks."""

    def __enter__(self):
        session.guard("pymxs")
        return self


class undo(_Context):
    def __init__(self, enabled=True, message="") -> None:
        self._enabled, self._message = enabled, message

    def __enter__(self):
        session.guard("pymxs.undo")
        self._outer = session.hold
        if not self._enabled:
            session.undo_off += 1
        elif session.hold is None:
            session.hold = [self._message, copy.deepcopy(session.scene), False]
        return self

    def __exit__(self, *_):
        if not self._enabled:
            session.undo_off -= 1
        elif self._outer is None and session.hold is not None:
            label, before, touched = session.hold
            session.hold = None
            if touched:
                session.add_undo(label, before)


class attime(_Context):
    def __init__(self, time) -> None:
        self._time = float(time)

    def __enter__(self):
        session.guard("pymxs.attime")
        self._outer, session.time = session.time, self._time
        return self

    def __exit__(self, *_):
        session.time = self._outer


class animate(_Context):
    def __init__(self, enabled) -> None:
        self._enabled = enabled

    def __enter__(self):
        session.guard("pymxs.animate")
        self._outer, session.animating = session.animating, self._enabled
        return self

    def __exit__(self, *_):
        session.animating = self._outer


def _caller() -> str:
    """Return the module that called 3ds Max."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


session = Session()
