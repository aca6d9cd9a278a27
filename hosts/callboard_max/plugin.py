"""The plug-in that the application bundle starts, with the server, its menu and its panel."""

from __future__ import annotations

import logging

from pymxs import runtime as rt

from callboard_max.application.options import MaxOptions
from callboard_max.host import MaxHost
from callboard_max.ui import panel
from callboard_qt import QtPlugIn

log = logging.getLogger(__name__)

#: This is a script, because 3ds Max may have released Python functions by the time it quits.
_QUIT = 'python.Execute "from callboard_max.plugin import plug_in; plug_in.unload()"'
_QUIT_ID = "callboardQuit"


class MaxPlugIn(QtPlugIn):
    def has_artist(self) -> bool:
        return not rt.maxOps.isInNonInteractiveMode() and not rt.IsNetServer()

    def arrive(self) -> None:
        rt.callbacks.removeScripts(id=rt.Name(_QUIT_ID))
        rt.callbacks.addScript(rt.Name("preSystemShutdown"), _QUIT, id=rt.Name(_QUIT_ID))
        self.ready()

    def depart(self) -> None:
        rt.callbacks.removeScripts(id=rt.Name(_QUIT_ID))
        panel.close()

    def show_panel(self) -> None:
        self.load()
        panel.show(self.make_panel)

    def say(self, text: str, level: int) -> None:
        log.info("%s", text)
        rt.displayTempPrompt(text, 10_000)


#: The plug-in of this 3ds Max.
plug_in = MaxPlugIn("3ds Max", MaxHost, MaxOptions())
