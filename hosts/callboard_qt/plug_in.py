"""The plug-in that starts and stops callboard inside one application, and shows its menu."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from callboard.app import Callboard
from callboard.errors import CallboardError
from callboard_qt.application.artist_acts import main_window
from callboard_qt.application.options import Options
from callboard_qt.application.server import HostServer, MakeHost

if TYPE_CHECKING:
    from callboard_qt.ui.panel_frame import PanelFrame

log = logging.getLogger(__name__)


class QtPlugIn(ABC):
    """The plug-in of one application, with at most one server. ``application`` is the name by which
    the artist knows the application. Use it on the main thread."""

    def __init__(self, application: str, make_host: MakeHost, options: Options) -> None:
        # Imported here, so that a Python without Qt can show this class's documentation.
        from callboard_qt.ui.panel_frame import PanelFrames

        self.application = application
        self.options = options
        self.panels = PanelFrames()
        self.__make_host = make_host
        self.__residence: HostServer | None = None

    # -- for each application to define ---------------------------------------------------------

    @abstractmethod
    def has_artist(self) -> bool:
        """Return whether an artist is using the application. In batch mode or on a render node, the
        answer is False."""

    @abstractmethod
    def arrive(self) -> None:
        """Have ``ready`` called once the application's windows are open, and ``unload`` when it
        quits. Called when the plug-in is loaded."""

    @abstractmethod
    def depart(self) -> None:
        """Reverse what ``arrive`` and ``show_panel`` did. The server has stopped by then."""

    @abstractmethod
    def show_panel(self) -> None:
        """Open the panel from the menu, or bring it to the front."""

    @abstractmethod
    def say(self, text: str, level: int) -> None:
        """Show a message where the application shows its own. ``level`` is one of the levels of
        ``logging``."""

    # -- start and end --------------------------------------------------------------------------

    @property
    def loaded(self) -> bool:
        return self.__residence is not None

    @property
    def server(self) -> Callboard | None:
        """The running server, or None."""
        return self.__residence.server if self.__residence is not None else None

    def load(self) -> None:
        """Set up the plug-in if there is an artist. Idempotent."""
        if self.__residence is None and self.has_artist():
            self.__residence = HostServer(self.__make_host, lambda: self.options.port)
            self.arrive()

    def ready(self) -> None:
        """Start the server unless the artist has switched autostart off. Called when the
        application's windows are open."""
        if self.loaded and self.options.autostart:
            self.start()

    def unload(self) -> None:
        """Remove everything that callboard added to the application. Idempotent."""
        residence, self.__residence = self.__residence, None
        if residence is None:
            return
        try:
            # The panel releases the server before the server is gone.
            self.panels.show_server(None)
            residence.stop()
        finally:
            self.depart()

    # -- the menu -------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the server and report the result."""
        self.load()
        residence = self.__residence
        if residence is None or residence.server is not None:
            return
        try:
            server = residence.start()
        except (OSError, CallboardError) as error:
            self.say(f"Callboard can't serve: {error}", logging.ERROR)
            return
        self.panels.show_server(server)
        self.say(f"Callboard is running at {server.url}", logging.INFO)

    def stop(self) -> None:
        if self.__residence is not None:
            self.panels.show_server(None)
            self.__residence.stop()
            self.say("Callboard has stopped", logging.INFO)

    def copy_url(self) -> None:
        from qtpy.QtWidgets import QApplication

        server = self.server
        if server is None:
            self.say("Callboard isn't running: choose Callboard > Start", logging.WARNING)
        else:
            QApplication.clipboard().setText(server.url)

    def self_test(self) -> None:
        """Ask the artist, and then run the self-test. Its report opens in the browser."""
        from qtpy.QtWidgets import QMessageBox

        server = self.server
        if server is None:
            self.say("Callboard isn't running: choose Callboard > Start", logging.WARNING)
            return
        test = server.controls.self_test
        buttons = QMessageBox.StandardButton
        asked = QMessageBox.question(
            main_window(), "Callboard's self-test", test.question(), buttons.Yes | buttons.No
        )
        if asked == buttons.Yes:
            test.start(self.__tested)

    def __tested(self, page: Path | None, words: str) -> None:
        from qtpy.QtCore import QUrl
        from qtpy.QtGui import QDesktopServices

        self.say(words, logging.INFO if page is not None else logging.ERROR)
        if page is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(page)))

    def toggle_autostart(self) -> None:
        self.options.autostart = wanted = not self.options.autostart
        words = "now starts" if wanted else "no longer starts"
        self.say(f"Callboard {words} with {self.application}", logging.INFO)

    def make_panel(self) -> PanelFrame:
        """Return the widget that the application shows in its dock or pane."""
        return self.panels.make(self.server)
