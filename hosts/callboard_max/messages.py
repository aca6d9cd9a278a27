"""What 3ds Max tells of itself. Every callback is removed again when the server stops."""

from __future__ import annotations

import logging
from collections.abc import Callable

from pymxs import runtime as rt

log = logging.getLogger(__name__)

Act = Callable[[], None]

#: All callbacks of ours are removed by this name.
ID = "callboard"

#: What 3ds Max is busy with, from one event to the other.
SPANS = (
    ("systemPreNew", "systemPostNew", "making a new scene"),
    ("systemPreReset", "systemPostReset", "resetting the scene"),
    ("filePreOpen", "filePostOpen", "opening a scene"),
    ("filePreSave", "filePostSave", "saving the scene"),
    ("filePreMerge", "filePostMerge", "merging a file"),
    ("preRender", "postRender", "rendering"),
)
#: Before these the scene goes, and with it what can be undone.
REPLACING = ("systemPreNew", "systemPreReset", "filePreOpen")
PROJECT = ("systemPostNew", "systemPostReset", "filePostOpen", "filePostSave")
SCENE = ("selectionSetChanged", "nodeCreated", "nodePostDelete", "sceneUndo", "sceneRedo")


class Messages:
    """Callbacks on 3ds Max's main thread. What they raise is logged."""

    def __init__(self) -> None:
        self._busy: tuple[str, ...] = ()
        self._acts: dict[str, list[Act]] = {}
        # What an earlier run may have left: a server that ended without stopping.
        rt.callbacks.removeScripts(id=rt.Name(ID))
        for before, after, words in SPANS:
            self.on(before, self._switch(words, True))
            self.on(after, self._switch(words, False))
        self.on("fileOpenFailed", self._switch("opening a scene", False))

    def busy_with(self) -> str | None:
        """What 3ds Max is in the middle of, in the artist's words. Any thread."""
        busy = self._busy
        return busy[-1] if busy else None

    def on(self, event: str, act: Act) -> None:
        """``event`` is one of 3ds Max's general events."""
        if event not in self._acts:
            self._acts[event] = []
            rt.callbacks.addScript(rt.Name(event), self._caller(event), id=rt.Name(ID))
        self._acts[event].append(act)

    def close(self) -> None:
        """Removes every callback. Idempotent."""
        if self._acts:
            self._acts = {}
            rt.callbacks.removeScripts(id=rt.Name(ID))
        self._busy = ()

    def _caller(self, event: str) -> Callable[..., None]:
        # 3ds Max refuses a function that needs arguments.
        def call(_: object = None) -> None:
            for act in self._acts.get(event, ()):
                try:
                    act()
                except Exception:
                    log.exception("3ds Max's event %s was not dealt with", event)

        return call

    def _switch(self, words: str, begun: bool) -> Act:
        def note() -> None:
            # Replaced as a whole, because other threads read it.
            others = tuple(each for each in self._busy if each != words)
            self._busy = (*others, words) if begun else others

        return note
