"""What Houdini's package starts: the server, and what its menu and panel do."""

from __future__ import annotations

import atexit
import logging

import hou
from qtpy.QtCore import QCoreApplication

from callboard.errors import HostError
from callboard_houdini import panel
from callboard_houdini.host import HoudiniHost
from callboard_houdini.options import AUTOSTART, PORT, option, set_option
from callboard_qt.panel_frame import PanelFrame
from callboard_qt.residence import Residence

log = logging.getLogger(__name__)

_session: Residence | None = None


def load() -> None:
    """From ``uiready.py``: Houdini's windows are there. Idempotent."""
    global _session
    if _session is not None:
        return
    app = QCoreApplication.instance()
    if app is None:
        raise HostError("Houdini has no windows; use `callboard serve --host houdini` in hython")
    _session = Residence(HoudiniHost, lambda: option(PORT, 0))
    # Houdini tells nobody that it quits; Qt does, and Python's own way out is the last one.
    app.aboutToQuit.connect(unload)
    atexit.register(unload)
    if option(AUTOSTART, 1):
        start()


def unload() -> None:
    """Nothing of ours is left in Houdini. Idempotent."""
    global _session
    session, _session = _session, None
    if session is None:
        return
    atexit.unregister(unload)
    app = QCoreApplication.instance()
    if app is not None:
        app.aboutToQuit.disconnect(unload)
    panel.refresh(None)
    session.stop()


def running_session() -> Residence | None:
    """The session while the package is loaded."""
    return _session


def make_panel() -> PanelFrame:
    """From the panel's ``onCreateInterface``."""
    return panel.make(_session.server if _session is not None else None)


def start() -> None:
    """From the menu; the status line says how it went."""
    load()
    if _session is None or _session.server is not None:
        return
    try:
        server = _session.start()
    except (OSError, HostError) as error:
        _say(f"Callboard can't serve: {error}", hou.severityType.Error)
        return
    panel.refresh(server)
    _say(f"Callboard serves at {server.url}", hou.severityType.Message)


def stop() -> None:
    if _session is not None:
        panel.refresh(None)
        _session.stop()
        _say("Callboard has stopped", hou.severityType.Message)


def copy_url() -> None:
    server = _session.server if _session is not None else None
    if server is None:
        _say("Callboard isn't running: choose Callboard > Start", hou.severityType.Warning)
    else:
        hou.ui.copyTextToClipboard(server.url)


def toggle_autostart() -> None:
    wanted = not option(AUTOSTART, 1)
    set_option(AUTOSTART, int(wanted))
    words = "starts" if wanted else "does not start"
    _say(f"Callboard {words} with Houdini from now on", hou.severityType.Message)


def show_panel() -> None:
    """Opens the panel in a floating window, which the artist may dock, or shows the open one."""
    interface = hou.pypanel.interfaceByName("callboard")
    if interface is None:
        _say("Callboard's panel isn't installed; the menu works", hou.severityType.Warning)
        return
    for tab in hou.ui.paneTabs():
        if isinstance(tab, hou.PythonPanel) and tab.activeInterface() == interface:
            tab.setIsCurrentTab()
            return
    made = hou.ui.curDesktop().createFloatingPaneTab(hou.paneTabType.PythonPanel, size=(380, 640))
    assert isinstance(made, hou.PythonPanel)
    made.setActiveInterface(interface)


def _say(text: str, severity: hou.EnumValue) -> None:
    log.info("%s", text)
    hou.ui.setStatusMessage(text, severity)
