"""The plug-in that the artist switches on and off in Maya's Plug-in Manager. It consists of a menu
and the server that the menu controls."""

from __future__ import annotations

import logging
from functools import partial

from maya import cmds, mel
from maya import utils as maya_utils

from callboard_maya.application.options import MayaOptions
from callboard_maya.host import MayaHost
from callboard_maya.ui import panel
from callboard_qt import QtPlugIn

log = logging.getLogger(__name__)

MENU = "callboardMenu"


class MayaPlugIn(QtPlugIn):
    def has_artist(self) -> bool:
        return not cmds.about(batch=True)

    def arrive(self) -> None:
        # Maya's windows don't exist before its first idle moment.
        maya_utils.executeDeferred(self.ready)

    def ready(self) -> None:
        if self.loaded:  # The plug-in may have been unloaded in the meantime.
            self._build_menu()
            super().ready()

    def depart(self) -> None:
        panel.close()
        _remove_menu()

    def show_panel(self) -> None:
        panel.show()

    def restore_panel(self) -> None:
        """Fill the panel. Maya calls this while it builds the panel's control."""
        panel.fill(self.make_panel())

    def say(self, text: str, level: int) -> None:
        if level > logging.INFO:
            cmds.warning(text)
        else:
            log.info("%s", text)

    def _build_menu(self) -> None:
        _remove_menu()
        window = mel.eval("$callboardMainWindow = $gMainWindow")
        cmds.menu(MENU, parent=window, label="Callboard", tearOff=True)
        entry = partial(cmds.menuItem, parent=MENU)
        entry(label="Open Callboard", command=lambda *_: self.show_panel())
        entry(label="Start", command=lambda *_: self.start())
        entry(label="Stop", command=lambda *_: self.stop())
        entry(label="Copy URL", command=lambda *_: self.copy_url())
        entry(label="Self-test", command=lambda *_: self.self_test())
        entry(
            label="Start with Maya",
            checkBox=self.options.autostart,
            command=lambda *_: self.toggle_autostart(),
        )


def _remove_menu() -> None:
    if cmds.menu(MENU, exists=True):
        cmds.deleteUI(MENU, menu=True)


#: The plug-in of this Maya.
plug_in = MayaPlugIn("Maya", MayaHost, MayaOptions())
