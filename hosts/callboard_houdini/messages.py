"""What Houdini tells of itself. Every callback is removed again when the server stops."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import hou

from callboard_houdini.names import root

log = logging.getLogger(__name__)

Act = Callable[[], None]


class Messages:
    """Callbacks on Houdini's main thread. What they raise is logged. ``scene`` is called when
    objects change, ``file`` when another file is open or has been saved, ``replaced`` before the
    scene goes."""

    def __init__(self, scene: Act, file: Act, replaced: Act) -> None:
        self._scene, self._file, self._replaced = scene, file, replaced
        self._busy: tuple[str, ...] = ()
        kinds = hou.hipFileEventType
        self._spans: list[tuple[Any, Any, str]] = [
            (kinds.BeforeClear, kinds.AfterClear, "clearing the scene"),
            (kinds.BeforeLoad, kinds.AfterLoad, "opening a scene"),
            (kinds.BeforeMerge, kinds.AfterMerge, "merging a file"),
            (kinds.BeforeSave, kinds.AfterSave, "saving the scene"),
        ]
        self._has_windows = hou.isUIAvailable()
        # Python makes a new object for every look at a method, and Houdini wants the one it got.
        self._for_file, self._for_playbar = self._on_file, self._on_playbar
        self._for_selection, self._for_network = self._on_selection, self._on_network
        hou.hipFile.addEventCallback(self._for_file)
        if self._has_windows:
            hou.playbar.addEventCallback(self._for_playbar)
            hou.ui.addSelectionCallback(self._for_selection)
        self._watched = False
        self._watch_root()
        self._open = True

    def busy_with(self) -> str | None:
        """What Houdini is in the middle of, in the artist's words. Any thread."""
        busy = self._busy
        return busy[-1] if busy else None

    @contextmanager
    def during(self, words: str) -> Iterator[None]:
        """What we do ourselves, and Houdini doesn't tell of."""
        self._note(words, True)
        try:
            yield
        finally:
            self._note(words, False)

    def close(self) -> None:
        """Removes every callback. Idempotent."""
        if not self._open:
            return
        self._open = False
        hou.hipFile.removeEventCallback(self._for_file)
        if self._has_windows:
            hou.playbar.removeEventCallback(self._for_playbar)
            hou.ui.removeSelectionCallback(self._for_selection)
        self._unwatch_root()
        self._busy = ()

    def _on_file(self, event: Any) -> None:
        kinds = hou.hipFileEventType
        for before, after, words in self._spans:
            if event in (before, after):
                self._note(words, event == before)
        if event in (kinds.BeforeClear, kinds.BeforeLoad):
            self._unwatch_root()
            self._do(self._replaced)
        elif event in (kinds.AfterClear, kinds.AfterLoad):
            self._watch_root()
            self._do(self._file)
        elif event == kinds.AfterSave:
            self._do(self._file)
        elif event == kinds.AfterMerge:
            self._do(self._scene)

    def _on_playbar(self, event: Any, _frame: float) -> None:
        if event in (hou.playbarEvent.Started, hou.playbarEvent.Stopped):
            self._note("playing the animation", event == hou.playbarEvent.Started)

    def _on_selection(self, _selection: Any) -> None:
        self._do(self._scene)

    def _on_network(self, **_: Any) -> None:
        self._do(self._scene)

    def _watch_root(self) -> None:
        if not self._watched:
            network = root()
            assert isinstance(network, hou.OpNode)
            network.addEventCallback(_node_events(), self._for_network)
            self._watched = True

    def _unwatch_root(self) -> None:
        if self._watched:
            self._watched = False
            network = root()
            assert isinstance(network, hou.OpNode)
            network.removeEventCallback(_node_events(), self._for_network)

    def _note(self, words: str, begun: bool) -> None:
        # Replaced as a whole, because other threads read it.
        others = tuple(each for each in self._busy if each != words)
        self._busy = (*others, words) if begun else others

    def _do(self, act: Act) -> None:
        try:
            act()
        except Exception:
            log.exception("Houdini's message was not dealt with")


def _node_events() -> tuple[Any, ...]:
    return hou.nodeEventType.ChildCreated, hou.nodeEventType.ChildDeleted
