"""The plug-in that Houdini's package starts, with the server, its menu and its panel."""

from __future__ import annotations

import atexit
import logging

import hou
from qtpy.QtCore import QCoreApplication

from callboard_houdini.application.options import HoudiniOptions
from callboard_houdini.host import HoudiniHost
from callboard_qt import QtPlugIn

log = logging.getLogger(__name__)


class HoudiniPlugIn(QtPlugIn):
    def has_artist(self) -> bool:
        return bool(hou.isUIAvailable())

    def arrive(self) -> None:
        # Houdini doesn't report that it is quitting, but Qt does, and Python's exit is the last
        # resort.
        app = QCoreApplication.instance()
        if app is not None:
            app.aboutToQuit.connect(self.unload)
        atexit.register(self.unload)
        self.ready()

    def depart(self) -> None:
        atexit.unregister(self.unload)
        app = QCoreApplication.instance()
        if app is not None:
            app.aboutToQuit.disconnect(self.unload)

    def show_panel(self) -> None:
        """Show the panel in a floating window, which the artist may dock."""
        interface = hou.pypanel.interfaceByName("callboard")
        if interface is None:
            self.say("Callboard's panel isn't installed; the menu works", logging.WARNING)
            return
        for tab in hou.ui.paneTabs():
            if isinstance(tab, hou.PythonPanel) and tab.activeInterface() == interface:
                tab.setIsCurrentTab()
                return
        desktop = hou.ui.curDesktop()
        made = desktop.createFloatingPaneTab(hou.paneTabType.PythonPanel, size=(380, 640))
        assert isinstance(made, hou.PythonPanel)
        made.setActiveInterface(interface)

    def say(self, text: str, level: int) -> None:
        log.info("%s", text)
        kinds = hou.severityType
        severity = {logging.WARNING: kinds.Warning, logging.ERROR: kinds.Error}
        hou.ui.setStatusMessage(text, severity.get(level, kinds.Message))


#: The plug-in of this Houdini.
plug_in = HoudiniPlugIn("Houdini", HoudiniHost, HoudiniOptions())
