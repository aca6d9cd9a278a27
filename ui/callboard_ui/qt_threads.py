"""Ways to run functions on Qt's thread from any thread, and to run work on another thread if it may
wait for the disk.

An event posted to an object of the main thread wakes Qt's own loop. A signal would too, but PySide6
6.12.0 on Python 3.10 and 3.11 loses a reference for each signal that Python emits.
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
    """The target of posted events. It lives as long as the application, so no event reaches a
    deleted object."""

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
                # In a Qt event handler even SystemExit would abort the application.
                log.exception("updating the panel failed")
        return True


_inbox: _Inbox | None = None


def make_ready() -> None:
    """Make :func:`post` work. Call it on the main thread, once a QApplication exists."""
    global _inbox
    if _inbox is None:
        _inbox = _Inbox()


def make_unready() -> None:
    """Drop all functions that are posted from now on. Call it on the main thread, before the
    QApplication shuts down."""
    global _inbox
    _inbox = None


def post(fn: Callable[[], None]) -> None:
    """Run ``fn`` soon on Qt's thread, even while a modal dialog is open. Call it from any
    thread."""
    inbox = _inbox
    if inbox is not None and QCoreApplication.instance() is not None:
        inbox.post(fn)


class LatestValue(Generic[T]):
    """Passes values to Qt's thread. If several are waiting, only the newest is delivered."""

    def __init__(self, show: Callable[[T], None]) -> None:
        self._show = show
        self._value: list[T] = []
        self._posted = False
        self._closed = False

    def put(self, value: T) -> None:
        """Pass a value on. Call it from any thread. It never waits."""
        self._value = [value]
        if not self._posted:
            self._posted = True
            post(self._deliver)

    def close(self) -> None:
        """Stop delivering values. Call it on Qt's thread."""
        self._closed = True

    def _deliver(self) -> None:
        # Reset the flag first, so that any value put after this point is posted again.
        self._posted = False
        if not self._closed:
            self._show(self._value[0])


class Background:
    """One thread for work that may wait for the disk. Results are delivered on Qt's thread."""

    def __init__(self, *, may_hang: bool = False) -> None:
        """Make the thread. With ``may_hang``, the application's exit doesn't wait for work that may
        never end, such as checking a dead mount."""
        name = "callboard-panel"
        self._pool: Executor = (
            Workers(1, name) if may_hang else ThreadPoolExecutor(1, thread_name_prefix=name)
        )
        self._closed = False

    def run(
        self, work: Callable[[], T], done: Callable[[T | None, Exception | None], None]
    ) -> None:
        """Run ``work``, then call ``done(value, error)``, where one of the two is None. ``done``
        isn't called if :meth:`close` has been called in the meantime. Call it on Qt's thread."""
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
        """Accept no more work. Work already queued, such as saving settings, still runs, but its
        result isn't reported. Call it on Qt's thread. Idempotent."""
        self._closed = True
        self._pool.shutdown(wait=False)
