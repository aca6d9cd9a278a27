"""Getting from any thread to Qt's, and from Qt's thread to one that may wait for the disk.

An event posted to an object of the main thread wakes Qt's own loop. A signal would too, but PySide6
6.12.0 on Python 3.10 and 3.11 loses a reference at each one that Python emits.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Generic, TypeVar

from qtpy.QtCore import QCoreApplication, QEvent, QObject

from callboard.panel.threads import Workers

log = logging.getLogger(__name__)
T = TypeVar("T")

_RUN = QEvent.Type.User


class _Inbox(QObject):
    """Lives as long as the application: what is posted never meets a deleted object."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[Callable[[], None]] = deque()

    def post(self, fn: Callable[[], None]) -> None:
        self._waiting.append(fn)
        QCoreApplication.postEvent(self, QEvent(_RUN))

    def event(self, event: QEvent) -> bool:
        if event.type() != _RUN:
            return bool(super().event(event))
        if self._waiting:
            fn = self._waiting.popleft()
            try:
                fn()
            except BaseException:
                # Out of a Qt event handler even SystemExit would abort the application.
                log.exception("updating the panel failed")
        return True


_inbox: _Inbox | None = None


def make_ready() -> None:
    """Main thread, with a QApplication: from now on :func:`post` works."""
    global _inbox
    if _inbox is None:
        _inbox = _Inbox()


def make_unready() -> None:
    """Main thread, before the QApplication is shut down: what is posted from now on is dropped."""
    global _inbox
    _inbox = None


def post(fn: Callable[[], None]) -> None:
    """Runs ``fn`` soon on Qt's thread, inside a modal dialog's loop too. Any thread."""
    inbox = _inbox
    if inbox is not None and QCoreApplication.instance() is not None:
        inbox.post(fn)


class LatestValue(Generic[T]):
    """Hands values over to Qt's thread; of several that wait, only the newest arrives."""

    def __init__(self, show: Callable[[T], None]) -> None:
        self._show = show
        self._value: list[T] = []
        self._posted = False
        self._closed = False

    def put(self, value: T) -> None:
        """Any thread; never waits."""
        self._value = [value]
        if not self._posted:
            self._posted = True
            post(self._deliver)

    def close(self) -> None:
        """Nothing arrives any more. Qt's thread."""
        self._closed = True

    def _deliver(self) -> None:
        # First the flag: what is put from here on posts again.
        self._posted = False
        if not self._closed:
            self._show(self._value[0])


class Background:
    """One thread for what may wait for the disk. Its answers come on Qt's thread."""

    def __init__(self, *, may_hang: bool = False) -> None:
        """``may_hang`` is for work that may never end, a look at a dead mount say, and that nobody
        misses: the application's exit doesn't wait for it."""
        name = "callboard-panel"
        self._pool: Executor = (
            Workers(1, name) if may_hang else ThreadPoolExecutor(1, thread_name_prefix=name)
        )
        self._closed = False

    def run(
        self, work: Callable[[], T], done: Callable[[T | None, Exception | None], None]
    ) -> None:
        """Calls ``done(value, error)``, one of them None, unless closed meanwhile. Qt's thread."""
        if self._closed:
            return

        def perform() -> None:
            value: T | None = None
            error: Exception | None = None
            try:
                value = work()
            except Exception as failed:
                error = failed
            post(lambda: None if self._closed else done(value, error))

        self._pool.submit(perform)

    def close(self) -> None:
        """Takes no more. What waits is done still, settings that are to be saved above all, but
        nobody hears of it. Qt's thread; idempotent."""
        self._closed = True
        self._pool.shutdown(wait=False)
