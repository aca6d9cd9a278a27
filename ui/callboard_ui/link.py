"""The panel's link to a server, with the server's status and its controls."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from callboard.panel.controls import Controls
from callboard.panel.status import Snapshot
from callboard_ui.qt_threads import Background, LatestValue, make_ready, post

T = TypeVar("T")


class Link:
    """One panel's link to one server. Closing the link releases everything, no matter whether the
    panel or the server closes first. Use it on Qt's thread."""

    def __init__(
        self,
        controls: Controls,
        show: Callable[[Snapshot], None],
    ) -> None:
        make_ready()
        self.controls = controls
        self.records = controls.records
        self.background = Background()
        #: A separate thread for folders that any client may have named, so that a dead mount delays
        #: nothing else.
        self.folders = Background(may_hang=True)
        self.open = True
        self._newest = LatestValue(show)
        self._leave = controls.attend()
        self._unsubscribe = controls.status.watch(self._newest.put)

    def answer(self, show: Callable[[T], None]) -> Callable[[T], None]:
        """Return a function that calls ``show`` on Qt's thread, as long as the panel is open."""
        return lambda value: post(lambda: show(value) if self.open else None)

    def close(self) -> None:
        """Release the server. The server's pending questions are refused unless another panel is
        open. Idempotent."""
        if self.open:
            self.open = False
            self._newest.close()
            self._unsubscribe()
            self._leave()
            self.background.close()
            self.folders.close()
