"""Runs Qt's event loop on the main thread of a headless host, with the panel as its only window."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from callboard.errors import HostError
from callboard_ui.qt_libraries import advice

if TYPE_CHECKING:
    from callboard.panel.controls import Serving

_PROBE = """
from callboard_qt import choose_binding
choose_binding()
from qtpy.QtWidgets import QApplication
QApplication([])
"""
_PROBE_SECONDS = 30


def check_qt() -> None:
    """Raise HostError, with what to install, if Qt can't open a window. This is tested in a
    separate process, because Qt aborts the process in which it fails."""
    try:
        probe = subprocess.run(
            [sys.executable, "-c", _PROBE],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"couldn't check whether Qt works: {error}") from None
    if probe.returncode == 0:
        return
    complaint = " ".join(probe.stderr.split())[:300] or "nothing more"
    if "ModuleNotFoundError" in probe.stderr or "QtBindingsNotFound" in probe.stderr:
        raise HostError("the panel needs Qt: pip install 'PySide6-Essentials!=6.12.0'")
    if sys.platform.startswith("linux"):
        if "xcb" in probe.stderr and (missing := advice(sys.path)) is not None:
            raise HostError(f"Qt can't open a window. {missing}")
        raise HostError(
            "Qt can't open a window. It needs a display (DISPLAY or WAYLAND_DISPLAY). "
            f"Qt says: {complaint}"
        )
    raise HostError(f"Qt can't open a window. Qt says: {complaint}")


class PanelLoop:
    """Runs posted functions, as :class:`callboard.guest.inbox.MainThreadInbox` does, and draws the
    panel in between. Make it on the main thread, after :func:`check_qt`."""

    def __init__(self) -> None:
        from callboard_qt import choose_binding

        choose_binding()
        from qtpy.QtWidgets import QApplication

        from callboard_qt.application.main_thread import QtMainThread

        self._app = QApplication.instance() or QApplication(["callboard"])
        self._app.setApplicationName("callboard")
        self._main = QtMainThread()

    def post(self, fn: Callable[[], None]) -> None:
        """Have the loop call ``fn`` soon. Call it from any thread."""
        self._main.post(fn)

    def stop(self) -> None:
        """Make ``run`` return. Call it from any thread or a signal handler."""
        self._main.post(self._app.quit)

    def run(self, server: Serving) -> None:
        """Show the panel, and run until ``stop`` is called or the panel's window is closed. Runs on
        the main thread."""
        from callboard_ui import make_panel
        from callboard_ui.panel import Panel

        panel = make_panel(server)
        assert isinstance(panel, Panel)
        panel.setWindowTitle(f"Callboard: {server.controls.instance.name}")
        panel.show()
        try:
            with _noticing_signals():
                self._app.exec_()
        finally:
            panel.shut()


@contextmanager
def _noticing_signals() -> Iterator[None]:
    """Let signal handlers run while Qt's loop is idle. Python runs signal handlers only between two
    of its own instructions, so each signal writes a byte that wakes the loop."""
    from qtpy.QtCore import QSocketNotifier

    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    notifier = QSocketNotifier(ours.fileno(), QSocketNotifier.Type.Read)
    notifier.activated.connect(lambda *args: ours.recv(4096))
    before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        notifier.setEnabled(False)
        ours.close()
        theirs.close()
