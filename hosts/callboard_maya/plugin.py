"""What Maya's Plug-in Manager switches on and off: the menu, and the server behind it."""

from __future__ import annotations

import logging
from functools import partial

from maya import cmds, mel
from maya import utils as maya_utils

from callboard_maya import panel
from callboard_maya.host import MayaHost
from callboard_maya.options import AUTOSTART, PORT, option, set_option
from callboard_qt.residence import Residence

log = logging.getLogger(__name__)

MENU = "callboardMenu"


class _Plugin:
    """Lives from load to unload."""

    def __init__(self) -> None:
        self.session = Residence(MayaHost, lambda: option(PORT, 0))
        self.loaded = True
        self.has_windows = not cmds.about(batch=True)

    def when_ready(self) -> None:
        """At Maya's first idle moment: its windows are there by then."""
        if not self.loaded:
            return  # unloaded meanwhile
        self._build_menu()
        if option(AUTOSTART, 1):
            self.start()

    def start(self) -> None:
        try:
            server = self.session.start()
        except OSError as error:
            log.error("callboard can't serve: %s", error)
            return
        log.info("callboard serves at %s", server.url)
        panel.refresh(server)

    def stop(self) -> None:
        # The panel lets go of the server before that is gone.
        panel.refresh(None)
        self.session.stop()

    def _build_menu(self) -> None:
        self._remove_menu()
        window = mel.eval("$callboardMainWindow = $gMainWindow")
        cmds.menu(MENU, parent=window, label="Callboard", tearOff=True)
        entry = partial(cmds.menuItem, parent=MENU)
        entry(label="Open Callboard", command=lambda *_: panel.show())
        entry(label="Start", command=lambda *_: self.start())
        entry(label="Stop", command=lambda *_: self.stop())
        entry(label="Copy URL", command=lambda *_: self._copy_url())
        entry(
            label="Start with Maya",
            checkBox=bool(option(AUTOSTART, 1)),
            command=lambda checked, *_: set_option(AUTOSTART, int(checked)),
        )

    def _copy_url(self) -> None:
        from qtpy.QtWidgets import QApplication

        server = self.session.server
        if server is None:
            cmds.warning("callboard isn't running: choose Callboard > Start")
        else:
            QApplication.clipboard().setText(server.url)

    def _remove_menu(self) -> None:
        if cmds.menu(MENU, exists=True):
            cmds.deleteUI(MENU, menu=True)

    def unload(self) -> None:
        self.loaded = False
        self.stop()
        if self.has_windows:
            panel.close()
            self._remove_menu()


_plugin: _Plugin | None = None


def load() -> None:
    """On ``initializePlugin``. Without windows there is nothing to do: ``callboard serve`` under
    mayapy is the way there."""
    global _plugin
    _plugin = plugin = _Plugin()
    if plugin.has_windows:
        maya_utils.executeDeferred(plugin.when_ready)


def unload() -> None:
    """On ``uninitializePlugin``: nothing of ours is left in Maya. Idempotent."""
    global _plugin
    plugin, _plugin = _plugin, None
    if plugin is not None:
        plugin.unload()


def running_session() -> Residence | None:
    """The plug-in's session while it is loaded; for the panel."""
    return _plugin.session if _plugin is not None else None
