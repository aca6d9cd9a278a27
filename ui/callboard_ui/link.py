"""What the panel has of a server: its status and its controls, nothing else of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from callboard.panel.controls import Controls
from callboard.panel.status import Snapshot
from callboard_ui.qt_threads import Background, LatestValue, make_ready, post

T = TypeVar("T")


class Link:
    """One panel's hold on one server; Qt's thread. Closing it lets go of everything, whoever
    closes first, panel or server."""

    def __init__(
        self,
        controls: Controls,
        show: Callable[[Snapshot], None],
    ) -> None:
        make_ready()
        self.controls = controls
        self.records = controls.records
        self.background = Background()
        #: For folders that anybody may have named: one on a dead mount holds up nothing else.
        self.folders = Background(may_hang=True)
        self.open = True
        self._newest = LatestValue(show)
        self._leave = controls.attend()
        self._unsubscribe = controls.status.watch(self._newest.put)

    def answer(self, show: Callable[[T], None]) -> Callable[[T], None]:
        """``show``, but on Qt's thread, and only while the panel is open."""
        return lambda value: post(lambda: show(value) if self.open else None)

    def close(self) -> None:
        """Idempotent. What waits for the artist is refused, if nobody else attends."""
        if self.open:
            self.open = False
            self._newest.close()
            self._unsubscribe()
            self._leave()
            self.background.close()
            self.folders.close()
