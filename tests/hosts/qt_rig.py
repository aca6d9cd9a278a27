"""A real QApplication, driven by tests: Qt's own loop runs on the main thread until the event that
a test waits for."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from qtpy.QtCore import QCoreApplication, QEvent, QEventLoop, QObject, QTimer
from qtpy.QtWidgets import QApplication, QDialog

T = TypeVar("T")

#: Milliseconds that a test waits for an event before it fails.
DEADLINE_MS = 20_000


def application() -> QApplication:
    """Return the process's only QApplication."""
    running = QApplication.instance() or QApplication(["callboard-tests"])
    assert isinstance(running, QApplication)
    running.setQuitOnLastWindowClosed(False)
    return running


class Calls(QObject):
    """Runs functions from other threads on Qt's thread, inside whatever loop is running there. With
    it, a test can act as the artist."""

    def __init__(self) -> None:
        super().__init__()
        self._functions: list[Callable[[], object]] = []

    def call(self, function: Callable[[], object]) -> None:
        self._functions.append(function)
        QCoreApplication.postEvent(self, QEvent(QEvent.Type.User))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.User:
            self._functions.pop(0)()
            return True
        return bool(super().event(event))


def spin_until(future: Future[T]) -> T:
    """Run Qt's loop until the future is done. Return the future's result. Raises TimeoutError."""
    loop, calls = QEventLoop(), Calls()
    future.add_done_callback(lambda _: calls.call(loop.quit))
    deadline = QTimer()
    deadline.setSingleShot(True)
    deadline.timeout.connect(loop.quit)
    deadline.start(DEADLINE_MS)
    loop.exec_()
    deadline.stop()
    return future.result(timeout=0)


def while_open(dialog: QDialog, work: Callable[[], T]) -> T:
    """Run ``work`` on another thread while the dialog is open, until ``work`` has closed the dialog
    or ended."""
    outcome, calls = in_thread(work), Calls()
    outcome.add_done_callback(lambda _: calls.call(dialog.reject))
    dialog.exec_()
    return spin_until(outcome)


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Start ``work`` on a new thread."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(work)
    pool.shutdown(wait=False)
    return future


def spin_while(work: Callable[[], T]) -> T:
    """Run ``work`` on another thread and Qt's loop here until it is done."""
    return spin_until(in_thread(work))
