"""callboard inside one application: what its start, its menu and its end do."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod

from qtpy.QtWidgets import QApplication

from callboard.app import Callboard
from callboard.errors import CallboardError
from callboard_qt.application.options import Options
from callboard_qt.application.server import HostServer, MakeHost
from callboard_qt.ui.panel_frame import PanelFrame, PanelFrames

log = logging.getLogger(__name__)


class QtPlugIn(ABC):
    """At most one server. Main thread. ``application`` is its name in the artist's words."""

    def __init__(self, application: str, make_host: MakeHost, options: Options) -> None:
        self.application = application
        self.options = options
        self.panels = PanelFrames()
        self._make_host = make_host
        self._residence: HostServer | None = None

    # -- what the application does its own way --------------------------------------------------

    @abstractmethod
    def has_artist(self) -> bool:
        """Whether somebody sits in front of it: not in batch, and not on a render node."""

    @abstractmethod
    def arrive(self) -> None:
        """When the plug-in is loaded: has ``ready`` called once the application's windows are
        there, and ``unload`` when it quits."""

    @abstractmethod
    def depart(self) -> None:
        """Takes back what ``arrive`` and ``show_panel`` did; the server has stopped."""

    @abstractmethod
    def show_panel(self) -> None:
        """From the menu: opens the panel, or brings it to the front."""

    @abstractmethod
    def say(self, text: str, level: int) -> None:
        """In the line where the application says such things; a level of ``logging``."""

    # -- its life -------------------------------------------------------------------------------

    @property
    def loaded(self) -> bool:
        return self._residence is not None

    @property
    def server(self) -> Callboard | None:
        """The running one."""
        return self._residence.server if self._residence is not None else None

    def load(self) -> None:
        """Idempotent. Without an artist there is nothing to do."""
        if self._residence is None and self.has_artist():
            self._residence = HostServer(self._make_host, lambda: self.options.port)
            self.arrive()

    def ready(self) -> None:
        """The application's windows are there."""
        if self.loaded and self.options.autostart:
            self.start()

    def unload(self) -> None:
        """Nothing of ours is left in the application. Idempotent."""
        residence, self._residence = self._residence, None
        if residence is None:
            return
        try:
            # The panel lets go of the server before that is gone.
            self.panels.show_server(None)
            residence.stop()
        finally:
            self.depart()

    # -- its menu -------------------------------------------------------------------------------

    def start(self) -> None:
        """Says how it went."""
        self.load()
        residence = self._residence
        if residence is None or residence.server is not None:
            return
        try:
            server = residence.start()
        except (OSError, CallboardError) as error:
            self.say(f"Callboard can't serve: {error}", logging.ERROR)
            return
        self.panels.show_server(server)
        self.say(f"Callboard serves at {server.url}", logging.INFO)

    def stop(self) -> None:
        if self._residence is not None:
            self.panels.show_server(None)
            self._residence.stop()
            self.say("Callboard has stopped", logging.INFO)

    def copy_url(self) -> None:
        server = self.server
        if server is None:
            self.say("Callboard isn't running: choose Callboard > Start", logging.WARNING)
        else:
            QApplication.clipboard().setText(server.url)

    def toggle_autostart(self) -> None:
        self.options.autostart = wanted = not self.options.autostart
        words = "starts" if wanted else "does not start"
        self.say(f"Callboard {words} with {self.application} from now on", logging.INFO)

    def make_panel(self) -> PanelFrame:
        """What the application shows in its dock or pane."""
        return self.panels.make(self.server)
