"""The large panel as a window of the Blender process.

Blender doesn't run a Qt loop. While the window is open, the timer that serves calls also lets Qt
work briefly each time it fires. Importing this module doesn't load Qt.
"""

from __future__ import annotations

import locale
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callboard.app import Callboard
from callboard.errors import HostError
from callboard_blender.ui.qt_files import QtSearch

if TYPE_CHECKING:
    from callboard_ui.panel import Panel

#: Milliseconds that Qt may use in one tick. The rest of its work waits for the next tick.
_MOST_MS = 10


class QtWindow:
    """The window, of which there is at most one. Use it on the main thread."""

    def __init__(self, bundled: Path) -> None:
        """Prepare the window. ``bundled`` is the folder with the add-on's wheels, if there is
        one."""
        #: The reason why the window could not be opened.
        self.problem: str | None = None
        self._bundled = bundled
        self._server: Callboard | None = None
        self._search: QtSearch | None = None
        self._folder: str | None = None
        self._qt_there = False
        self._app: Any = None
        self._ours = False
        self._panel: Panel | None = None

    @property
    def opening(self) -> bool:
        return self._server is not None

    @property
    def panel(self) -> Panel | None:
        """The open panel, or None."""
        return self._panel

    def open(self, server: Callboard) -> None:
        """Open the window, or first start to test whether Qt works on this machine. If the window
        is already open, bring it to the front. On failure, ``problem`` says why."""
        self.problem = None
        if self._panel is not None:
            self._panel.raise_()
            self._panel.activateWindow()
            return
        try:
            if self._search is None and not self._qt_there:
                self._search = QtSearch(self._bundled)
        except HostError as error:
            self.problem = str(error)
        else:
            self._server = server

    def tick(self) -> bool:
        """Do pending work, and return whether there will be more. Called at every tick of
        Blender."""
        if self._server is not None and (self._search is None or self._search.done):
            self._found_out()
        if self._panel is not None:
            self._lend(_MOST_MS)
            if not self._panel.link.open:
                self._panel = None
                self._lend(_MOST_MS)  # This lets Qt delete the panel.
        return self._panel is not None or self._server is not None

    def close(self) -> None:
        """Close the window, and stop opening one. Idempotent."""
        self._server = None
        search, self._search = self._search, None
        if search is not None:
            search.end()
        panel, self._panel = self._panel, None
        if panel is not None:
            panel.close()
            self._lend(_MOST_MS)

    def shut_down(self) -> None:
        """Close the window, and end Qt if we started it. Qt's modules stay loaded, because Python
        can't load them twice. Idempotent."""
        self.close()
        app, self._app = self._app, None
        if app is not None:
            from callboard_ui.qt_threads import make_unready

            make_unready()
        if app is not None and self._ours and not app.topLevelWidgets():
            app.shutdown()
        if self._folder is not None:
            sys.path.remove(self._folder)
            sys.path_importer_cache.pop(self._folder, None)
            self._folder = None

    def _found_out(self) -> None:
        server, self._server = self._server, None
        search, self._search = self._search, None
        assert server is not None
        if search is not None:
            if search.problem is not None:
                self.problem = search.problem
                return
            if search.folder is not None:
                self._folder = search.folder
                sys.path.append(search.folder)
            self._qt_there = True
        try:
            self._show(server)
        except (ImportError, HostError) as error:
            self.problem = f"Qt can't be used: {error}"

    def _show(self, server: Callboard) -> None:
        self._app = self._application()
        from callboard_ui import make_panel
        from callboard_ui.panel import Panel

        panel = make_panel(server)
        assert isinstance(panel, Panel)
        panel.setWindowTitle(f"Callboard: {server.host.identity.name}")
        panel.show()
        self._panel = panel

    def _application(self) -> Any:
        """Return Qt's application, which is another add-on's or our own."""
        import PySide6

        if PySide6.__version__ == "6.12.0" and sys.version_info < (3, 12):
            # In this version, each call into Qt that returns nothing loses a reference to None.
            raise HostError("PySide6 6.12.0 aborts this Python; install another version of PySide6")
        from qtpy.QtWidgets import QApplication

        app = QApplication.instance()
        if app is not None:
            return app
        before = locale.setlocale(locale.LC_ALL)
        app = QApplication(["callboard"])
        # Qt switches the process to the user's number format, which Blender can't read.
        locale.setlocale(locale.LC_ALL, before)
        self._ours = True
        app.setQuitOnLastWindowClosed(False)
        app.setApplicationName("callboard")
        from callboard_blender.ui.qt_style import dress

        dress(app)
        return app

    def _lend(self, milliseconds: int) -> None:
        from qtpy.QtCore import QEvent, QEventLoop

        # Without this, deferred deletions from outside an event would wait for a loop to begin.
        self._app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        self._app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, milliseconds)
