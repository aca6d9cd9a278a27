"""What the application bundle starts: the server, and what its menu and panel do."""

from __future__ import annotations

import logging

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard_max import panel
from callboard_max.host import MaxHost
from callboard_max.options import AUTOSTART, PORT, option, set_option
from callboard_qt.residence import Residence

log = logging.getLogger(__name__)

#: A script, because 3ds Max may have let go of Python functions by then.
_QUIT = 'python.Execute "from callboard_max import plugin; plugin.unload()"'
_QUIT_ID = "callboardQuit"

_session: Residence | None = None


def load() -> None:
    """From the bundle's start-up script, once 3ds Max's windows are there. Idempotent. Under
    3dsmaxbatch and on a render node there is nothing to do."""
    global _session
    if _session is None and not rt.maxOps.isInNonInteractiveMode() and not rt.IsNetServer():
        _session = Residence(MaxHost, lambda: option(PORT, 0))
        rt.callbacks.removeScripts(id=rt.Name(_QUIT_ID))
        rt.callbacks.addScript(rt.Name("preSystemShutdown"), _QUIT, id=rt.Name(_QUIT_ID))
        if option(AUTOSTART, 1):
            start()


def unload() -> None:
    """Nothing of ours is left in 3ds Max. Idempotent."""
    global _session
    session, _session = _session, None
    if session is not None:
        rt.callbacks.removeScripts(id=rt.Name(_QUIT_ID))
        panel.refresh(None)
        session.stop()
        panel.close()


def running_session() -> Residence | None:
    """The session while the bundle is loaded."""
    return _session


def start() -> None:
    """From the menu; the prompt line says how it went."""
    load()
    if _session is None or _session.server is not None:
        return
    try:
        server = _session.start()
    except (OSError, HostError) as error:
        _say(f"Callboard can't serve: {error}")
        return
    panel.refresh(server)
    _say(f"Callboard serves at {server.url}")


def stop() -> None:
    if _session is not None:
        panel.refresh(None)
        _session.stop()
        _say("Callboard has stopped")


def copy_url() -> None:
    from qtpy.QtWidgets import QApplication

    server = _session.server if _session is not None else None
    if server is None:
        _say("Callboard isn't running: choose Callboard > Start")
    else:
        QApplication.clipboard().setText(server.url)


def toggle_autostart() -> None:
    wanted = not option(AUTOSTART, 1)
    set_option(AUTOSTART, int(wanted))
    words = "starts" if wanted else "does not start"
    _say(f"Callboard {words} with 3ds Max from now on")


def show_panel() -> None:
    load()
    panel.show(_session.server if _session is not None else None)


def _say(text: str) -> None:
    log.info("%s", text)
    rt.displayTempPrompt(text, 10_000)
