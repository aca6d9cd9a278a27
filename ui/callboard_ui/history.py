"""Reads finished calls from the records, a page at a time, without slowing the writers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic

from qtpy.QtCore import QObject, QTimer

from callboard.panel.records import CallRecord, Filter, Page, Reader
from callboard_ui.qt_threads import Background

PAGE = 200
#: The minimum pause between two reads, in seconds and as a multiple of the time that the last read
#: took. Reading therefore takes a few percent of the time at most.
PAUSE, SHARE = 0.3, 30.0
#: Seconds between reads while calls end faster than the list shows them.
FLOOD_PAUSE = 2.0


class History:
    """Pages of finished calls. ``newest`` and ``older`` receive pages of calls. ``failed`` receives
    the reason when a read fails. Use it on Qt's thread."""

    def __init__(
        self,
        reader: Reader,
        background: Background,
        newest: Callable[[Sequence[CallRecord]], bool],
        older: Callable[[Sequence[CallRecord]], None],
        failed: Callable[[str], None],
        parent: QObject,
    ) -> None:
        self._reader = reader
        self._background = background
        self._newest = newest
        self._older = older
        self._failed = failed
        self._filter = Filter()
        self._cursor: str | None = None
        self._generation = 0
        self._looking = self._wanted = False
        self._free_at = 0.0
        self._timer = QTimer(parent)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.refresh)

    def set_filter(self, where: Filter) -> None:
        """Read only calls that match this filter from now on."""
        self._filter = where
        self._generation += 1
        self._cursor = None
        self._looking = False
        self._free_at = 0.0
        self.refresh()

    def refresh(self) -> None:
        """Read the newest calls soon."""
        if self._looking:
            self._wanted = True
            return
        wait = self._free_at - monotonic()
        if wait > 0:
            if not self._timer.isActive():
                self._timer.start(int(wait * 1000) + 1)
            return
        self._looking, self._wanted = True, False
        self._read(None, partial(self._show_newest, self._generation))

    def more(self) -> None:
        """Read the next batch of older calls."""
        cursor, self._cursor = self._cursor, None
        if cursor is not None:
            self._read(cursor, partial(self._show_older, self._generation))

    def get(
        self, call_id: str, done: Callable[[CallRecord | None, Exception | None], None]
    ) -> None:
        """Read one call with its arguments."""
        self._background.run(partial(self._reader.get, call_id), done)

    def close(self) -> None:
        self._timer.stop()

    def _read(
        self, cursor: str | None, show: Callable[[Page | None, Exception | None], None]
    ) -> None:
        where = self._filter

        def work() -> Page:
            began = monotonic()
            try:
                return self._reader.recent(where, limit=PAGE, cursor=cursor)
            finally:
                took = monotonic() - began
                self._free_at = monotonic() + max(PAUSE, took * SHARE)

        self._background.run(work, show)

    def _show_newest(self, generation: int, page: Page | None, error: Exception | None) -> None:
        if generation != self._generation:
            return
        self._looking = False
        if page is None:
            self._failed(str(error))
            return
        joined = self._newest(page.calls)
        if not joined:
            self._cursor = page.cursor
            if page.cursor is not None:
                self._free_at = max(self._free_at, monotonic() + FLOOD_PAUSE)
        if self._wanted:
            self.refresh()

    def _show_older(self, generation: int, page: Page | None, error: Exception | None) -> None:
        if generation != self._generation:
            return
        if page is None:
            self._failed(str(error))
            return
        self._cursor = page.cursor
        self._older(page.calls)
