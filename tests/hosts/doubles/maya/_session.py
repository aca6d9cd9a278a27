"""The running Maya: its thread, its undo queue, its files, plug-ins, windows and callbacks."""

from __future__ import annotations

import copy
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from softness import Soft

from ._scene import Scene, new_scene


class Session(Soft):
    """The only session of the process; ``reset`` starts it afresh."""

    def __init__(self) -> None:
        self.reset()
        #: False at first, as under mayapy, where Maya has hardly any commands before it is
        #: initialized.
        self.running = False

    def reset(self, batch: bool = False) -> None:
        self.running = True
        self.harden()
        self.main = threading.get_ident()
        self.batch = batch
        self.scene = new_scene()
        self.file = ""
        self.modified = False
        self.units = {"linear": "cm", "angle": "deg", "time": "film"}
        self.up_axis = "y"
        #: mayapy starts with undo switched off.
        self.undo_on = not batch
        self.undo: list[tuple[str, Scene]] = []
        self.redo: list[tuple[str, Scene]] = []
        self.depth = 0
        self.chunk: _Chunk | None = None
        self.options: dict[str, Any] = {}
        #: Copied keys, by frame.
        self.clipboards: dict[str, dict[float, float]] = {}
        self.workspace = "/projects/default"
        self.file_rules = {"images": "images"}
        self.graphics_card = True
        self.plugins: dict[str, Any] = {}
        #: The stack of the FBX plug-in's settings. The last ones apply.
        self.fbx: list[dict[str, dict[str, str]]] = []
        self.callbacks: dict[int, tuple[str, Any, Callable[..., object]]] = {}
        self.last_callback = 0
        self.windows: dict[str, Any] = {}
        #: The controls that Maya stores with the window layout: script, and the plug-in it checks.
        self.controls: dict[str, tuple[str, str]] = {}
        self.panels = {"modelPanel4": "modelPanel", "outlinerPanel1": "outlinerPanel"}
        self.focus = "modelPanel4"
        #: The settings of each view, by its panel.
        self.editors: dict[str, dict[str, Any]] = {}
        self.deferred: list[Callable[[], object]] = []
        self.unloaded = False
        #: The messages for Maya's status line.
        self.warnings: list[str] = []

    # -- the rules ----------------------------------------------------------------------------

    def guard(self, what: str) -> None:
        if threading.get_ident() != self.main:
            raise RuntimeError(f"{what} was called from {threading.current_thread().name}")
        if self.unloaded and _caller().startswith(("callboard_maya", "callboard_qt")):
            raise RuntimeError(f"{what} was called after the plug-in was unloaded")

    def editor(self, panel: str, new: dict[str, Any]) -> dict[str, Any]:
        return self.editors.setdefault(panel, dict(new))

    def needs_windows(self, what: str) -> None:
        if self.batch:
            raise RuntimeError(f"{what} is not available in batch mode")

    # -- undo -----------------------------------------------------------------------------------

    def record(self, command: str) -> None:
        """Record the state before a change that Maya can undo."""
        self.modified = True
        if not self.undo_on:
            return
        if self.chunk is not None:
            if not self.chunk.touched:
                self.cook()
            self.chunk.touched = True
        else:
            self.undo.append((command, copy.deepcopy(self.scene)))
            self.redo.clear()

    def open_chunk(self, name: str) -> None:
        self.depth += 1
        if self.chunk is None:
            self.chunk = _Chunk(name, copy.deepcopy(self.scene))

    def close_chunk(self) -> None:
        if self.depth == 0:
            self.warnings.append("there is no chunk to close")
            return
        self.depth -= 1
        if self.depth == 0 and self.chunk is not None:
            if self.chunk.touched:
                self.undo.append((self.chunk.name, self.chunk.before))
                self.redo.clear()
            self.chunk = None

    def flush(self) -> None:
        self.undo.clear()
        self.redo.clear()
        if self.chunk is not None:
            self.chunk = _Chunk(self.chunk.name, copy.deepcopy(self.scene))

    # -- messages -------------------------------------------------------------------------------

    def listen(self, kind: str, what: Any, call: Callable[..., object]) -> int:
        self.last_callback += 1
        self.callbacks[self.last_callback] = (kind, what, call)
        return self.last_callback

    def tell(self, kind: str, what: Any, *arguments: object) -> None:
        for wanted, subject, call in list(self.callbacks.values()):
            if (wanted, subject) == (kind, what):
                call(*arguments, None)


@dataclass
class _Chunk:
    name: str
    before: Scene
    touched: bool = field(default=False)


def _caller() -> str:
    """Return the module that called Maya."""
    frame = sys._getframe(1)
    here = str(Path(__file__).parent)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


session = Session()
