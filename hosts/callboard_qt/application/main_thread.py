"""Runs functions on the main thread of a Qt application, and reports what holds that thread up.

An event that is posted to an object of the main thread wakes Qt's own loop. While nothing is
posted, there is no timer and no polling.

A modal dialog runs Qt's loop inside itself, in the middle of whatever opened it, so posted
functions wait until the last dialog is gone. Until then, callboard's event loop, on its own thread,
answers requests that don't need the host.
"""

from __future__ import annotations

import logging
import sys
from collections import deque
from collections.abc import Callable

import qtpy
from qtpy.QtCore import QCoreApplication, QEvent, QObject, QThread, QTimer
from qtpy.QtWidgets import QApplication, QWidget

from callboard.errors import HostError
from callboard.host import Interrupted

log = logging.getLogger(__name__)

#: Milliseconds after which another event is posted for waiting functions.
AGAIN_MS = 10
#: Only our own events reach our object, so Qt's first number for private use is enough.
_RUN = QEvent.Type.User


class QtMainThread(QObject):
    """Runs posted functions on the main thread. Make and close it on the main thread of a running
    QApplication. Making it elsewhere raises HostError."""

    def __init__(self) -> None:
        app = QApplication.instance()
        if app is None:
            raise HostError("there is no QApplication to post to")
        if app.thread() != QThread.currentThread():
            raise HostError("QtMainThread must be made on the application's main thread")
        if qtpy.PYSIDE_VERSION == "6.12.0" and sys.version_info < (3, 12):
            # With these versions, each call into Qt that returns nothing loses a reference to None.
            raise HostError("PySide6 6.12.0 aborts Python 3.10 and 3.11; use another version of it")
        super().__init__()
        self._waiting: deque[Callable[[], None]] = deque()
        self._dialog: QWidget | None = None
        self._title: str | None = None
        self._closed = False
        self._again = QTimer(self, singleShot=True, interval=AGAIN_MS)
        self._again.timeout.connect(self._still_waiting)
        #: The number of events received, and that number at the last check for a missing event.
        self._came = self._came_before = 0

    def post(self, fn: Callable[[], None]) -> None:
        """Run ``fn`` soon on the main thread, but not inside a modal dialog. Exceptions are logged.
        After ``close`` it does nothing. Call it from any thread."""
        if not self._closed:
            self._waiting.append(fn)
            QCoreApplication.postEvent(self, QEvent(_RUN))

    def blocked_by(self) -> str | None:
        """Return the title of the dialog that keeps posted functions waiting, or None. Call it from
        any thread."""
        return self._title

    def close(self) -> None:
        """Drop the waiting functions. Idempotent."""
        self._closed = True
        self._again.stop()
        self._forget_dialog()
        self._waiting.clear()
        QCoreApplication.removePostedEvents(self)

    def event(self, event: QEvent) -> bool:
        """Run one posted function per event, so that Qt gets its turn between two functions. Qt
        calls this."""
        if event.type() != _RUN:
            return bool(super().event(event))
        posted: Callable[[], None] | None = None
        try:
            self._came += 1
            dialog = QApplication.activeModalWidget()
            if dialog is not None:
                self._wait_for(dialog)
            elif self._waiting:
                self._forget_dialog()
                posted = self._waiting.popleft()
                posted()
        except Interrupted:
            # The interruption is meant for a tool that runs Qt's loop inside itself, and is
            # repeated until it reaches the tool. If it interrupted a posted function instead, that
            # function runs later.
            if posted is not None:
                self._waiting.append(posted)
        except BaseException:
            # In a Qt event handler even SystemExit would abort the application.
            log.exception("a function posted to the main thread failed")
        if self._waiting and self._dialog is None and not self._again.isActive():
            # If an interruption arrived before the first line of the ``try``, functions may be
            # waiting without an event.
            self._look_again()
        return True

    def _look_again(self) -> None:
        self._came_before = self._came
        self._again.start()

    def _still_waiting(self) -> None:
        # Wake Qt only once no more events arrive. Surplus events would pile up as long as calls
        # keep arriving, because Qt handles all events before its timers.
        if self._came == self._came_before:
            self._wake()
        elif self._waiting:
            self._look_again()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Watch the dialog that posted functions wait for. Qt calls this."""
        if event.type() in (QEvent.Type.Hide, QEvent.Type.Close, QEvent.Type.DeferredDelete):
            # Check again once Qt is done with the dialog, because the dialog may refuse to close,
            # or reveal another one.
            self._wake()
        elif event.type() == QEvent.Type.WindowTitleChange and watched is self._dialog:
            self._title = _title(self._dialog)
        return False

    def _wait_for(self, dialog: QWidget) -> None:
        if dialog is self._dialog:
            return
        self._forget_dialog()
        self._dialog, self._title = dialog, _title(dialog)
        dialog.installEventFilter(self)
        # A dialog that C++ deletes may disappear without an event.
        dialog.destroyed.connect(self._dialog_destroyed)

    def _forget_dialog(self) -> None:
        dialog, self._dialog, self._title = self._dialog, None, None
        if dialog is not None:
            dialog.removeEventFilter(self)
            dialog.destroyed.disconnect(self._dialog_destroyed)

    def _dialog_destroyed(self) -> None:
        self._dialog = self._title = None
        self._wake()

    def _wake(self) -> None:
        for _ in self._waiting:
            QCoreApplication.postEvent(self, QEvent(_RUN))


def _title(dialog: QWidget) -> str:
    return dialog.windowTitle() or type(dialog).__name__
