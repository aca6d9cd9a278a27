"""The server of ``server.py`` inside a Qt application, whose own loop runs the main thread.

    QT_QPA_PLATFORM=offscreen python tests/conformance/qt_server.py --port 0 --auth none

The host has no ports. This server tests the guest inside Qt's loop, with the same budget as in
every application with a user interface.
"""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable

from qtpy.QtCore import QSocketNotifier, qVersion
from qtpy.QtWidgets import QApplication, QLabel
from server import announce, make_server, on_signals, read_arguments

from callboard.host import Host, HostIdentity
from callboard_qt.application.main_thread import QtMainThread


class QtHost(Host):
    """An application with a window and no scene."""

    def __init__(self) -> None:
        super().__init__()
        self._main_thread = QtMainThread()
        self._identity = HostIdentity("qt", "Qt application", qVersion(), headless=False)

    @property
    def identity(self) -> HostIdentity:
        return self._identity

    def post(self, fn: Callable[[], None]) -> None:
        self._main_thread.post(fn)


def main() -> None:
    stdout, sys.stdout = sys.stdout, sys.stderr
    arguments = read_arguments(sys.argv[1:], ["qt"])
    application = QApplication(["conformance"])
    window = QLabel("callboard")
    window.show()
    server = make_server(QtHost(), arguments)
    # Python sees a signal only when Python code runs, and an idle Qt loop runs none.
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno())
    notifier = QSocketNotifier(reader.fileno(), QSocketNotifier.Type.Read)
    notifier.activated.connect(lambda: reader.recv(64))
    on_signals(application.quit)
    server.start()
    announce(server, stdout)
    try:
        application.exec_()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
