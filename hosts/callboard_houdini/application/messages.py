"""Listens to Houdini's events. Every callback is removed again when the server stops."""

from __future__ import annotations

from typing import Any

import hou

from callboard_houdini.application.names import root
from callboard_qt import Act, Messages


class HoudiniMessages(Messages):
    """Listens to Houdini. ``scene`` is called when objects change, ``replaced`` before the scene is
    replaced, and ``file`` when another file has been opened or the scene has been saved. After a
    save, ``saved`` is called before ``file``."""

    def __init__(self, scene: Act, file: Act, saved: Act, replaced: Act) -> None:
        super().__init__("Houdini")
        self._scene = self.guarded("of a change", scene)
        self._file = self.guarded("of a file", file)
        self._saved = self.guarded("of a save", saved)
        self._replaced = self.guarded("before another scene", replaced)
        kinds = hou.hipFileEventType
        self._spans: list[tuple[Any, Any, str]] = [
            (kinds.BeforeClear, kinds.AfterClear, "clearing the scene"),
            (kinds.BeforeLoad, kinds.AfterLoad, "opening a scene"),
            (kinds.BeforeMerge, kinds.AfterMerge, "merging a file"),
            (kinds.BeforeSave, kinds.AfterSave, "saving the scene"),
        ]
        self._has_windows = hou.isUIAvailable()
        # Python makes a new object each time a method is accessed, and Houdini removes a callback
        # only if it gets the same object.
        self._for_file, self._for_playbar = self._on_file, self._on_playbar
        self._for_selection, self._for_network = self._on_selection, self._on_network
        hou.hipFile.addEventCallback(self._for_file)
        if self._has_windows:
            hou.playbar.addEventCallback(self._for_playbar)
            hou.ui.addSelectionCallback(self._for_selection)
        self._watched = False
        self._watch_root()
        self._open = True

    def close(self) -> None:
        """Remove every callback. Idempotent."""
        if not self._open:
            return
        self._open = False
        hou.hipFile.removeEventCallback(self._for_file)
        if self._has_windows:
            hou.playbar.removeEventCallback(self._for_playbar)
            hou.ui.removeSelectionCallback(self._for_selection)
        self._unwatch_root()
        super().close()

    def _on_file(self, event: Any) -> None:
        kinds = hou.hipFileEventType
        for before, after, words in self._spans:
            if event in (before, after):
                self.note(words, event == before)
        if event in (kinds.BeforeClear, kinds.BeforeLoad):
            self._unwatch_root()
            self._replaced()
        elif event in (kinds.AfterClear, kinds.AfterLoad):
            self._watch_root()
            self._file()
        elif event == kinds.AfterSave:
            self._saved()
            self._file()
        elif event == kinds.AfterMerge:
            self._scene()

    def _on_playbar(self, event: Any, _frame: float) -> None:
        if event in (hou.playbarEvent.Started, hou.playbarEvent.Stopped):
            self.note("playing the animation", event == hou.playbarEvent.Started)

    def _on_selection(self, _selection: Any) -> None:
        self._scene()

    def _on_network(self, **_: Any) -> None:
        self._scene()

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


def _node_events() -> tuple[Any, ...]:
    return hou.nodeEventType.ChildCreated, hou.nodeEventType.ChildDeleted
