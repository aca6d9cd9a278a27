"""Listens to 3ds Max's events. Every callback is removed when the server stops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pymxs import runtime as rt

from callboard_qt import Act, Messages

#: The name by which all our callbacks are removed.
ID = "callboard"

#: The work that keeps 3ds Max busy between two events, in the artist's terms.
SPANS = (
    ("systemPreNew", "systemPostNew", "making a new scene"),
    ("systemPreReset", "systemPostReset", "resetting the scene"),
    ("filePreOpen", "filePostOpen", "opening a scene"),
    ("filePreSave", "filePostSave", "saving the scene"),
    ("filePreMerge", "filePostMerge", "merging a file"),
    ("preRender", "postRender", "rendering"),
)
#: Events that announce that the scene and its undo list will be replaced.
REPLACING = ("systemPreNew", "systemPreReset", "filePreOpen")
PROJECT = ("systemPostNew", "systemPostReset", "filePostOpen", "filePostSave")
SCENE = ("selectionSetChanged", "nodeCreated", "nodePostDelete", "sceneUndo", "sceneRedo")


class MaxMessages(Messages):
    def __init__(self) -> None:
        super().__init__("3ds Max")
        self._acts: dict[str, list[Act]] = {}
        # A server that ended without stopping may have left callbacks.
        rt.callbacks.removeScripts(id=rt.Name(ID))
        for before, after, words in SPANS:
            self.on(before, partial(self.note, words, True))
            self.on(after, partial(self.note, words, False))
        self.on("fileOpenFailed", partial(self.note, "opening a scene", False))

    def on(self, event: str, act: Act) -> None:
        """Call ``act`` for one of 3ds Max's general events."""
        if event not in self._acts:
            self._acts[event] = []
            rt.callbacks.addScript(rt.Name(event), self._caller(event), id=rt.Name(ID))
        self._acts[event].append(self.guarded(event, act))

    def close(self) -> None:
        """Remove every callback. Idempotent."""
        if self._acts:
            self._acts = {}
            rt.callbacks.removeScripts(id=rt.Name(ID))
        super().close()

    def _caller(self, event: str) -> Callable[..., None]:
        # 3ds Max refuses a function that needs arguments.
        def call(_: object = None) -> None:
            for act in self._acts.get(event, ()):
                act()

        return call
