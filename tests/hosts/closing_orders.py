"""Closes the host's window, the panel and the plug-in of the Maya double in every order, on Qt's
own loop, after a client has called. A test runs this in a separate process, because it may crash.
"""

from __future__ import annotations

import gc
import itertools
import sys
import threading
from typing import Any

from maya import cmds, utils
from maya._session import session
from maya_rig import PLUGIN, new_maya
from qt_rig import application, spin_while
from qtpy import shiboken
from qtpy.QtCore import QCoreApplication, QEvent
from qtpy.QtWidgets import QApplication, QMainWindow

from callboard_maya.plugin import plug_in
from callboard_maya.ui import panel
from callboard_maya.ui.panel import CONTROL
from callboard_programs.client import Client
from callboard_ui.panel import Panel

ROUNDS = 5


def forget_control() -> None:
    """Forget Maya's control, which was deleted with its window."""
    control = session.windows.get(CONTROL)
    if control is not None and not shiboken.isValid(control):
        del session.windows[CONTROL]


def close_window(window: QMainWindow) -> None:
    window.close()
    shiboken.delete(window)
    forget_control()


def close_panel(window: QMainWindow) -> None:
    forget_control()
    if cmds.workspaceControl(CONTROL, exists=True):
        session.windows[CONTROL].close()
        cmds.deleteUI(CONTROL, control=True)


def close_plug_in(window: QMainWindow) -> None:
    cmds.unloadPlugin("callboard_plugin")


STEPS = (close_window, close_panel, close_plug_in)


def one(order: tuple[Any, ...]) -> None:
    """Open everything, and close it in the given order."""
    window = QMainWindow()
    cmds.loadPlugin(PLUGIN)
    utils.processIdleEvents()
    panel.show()
    window.setCentralWidget(session.windows[CONTROL])
    window.show()
    server = plug_in.server
    assert server is not None
    (shown,) = window.findChildren(Panel)
    status, url, token = server.controls.status, server.url, server.token
    assert status.wanted

    def talk() -> dict[str, Any]:
        with Client(url, token) as client:
            return client.request("tools/call", {"name": "scene__scene_info", "arguments": {}})

    assert "structuredContent" in spin_while(talk)
    del shown, server
    for step in order:
        step(window)
        settle()
    assert not status.wanted, "something is still listening"
    assert not plug_in.loaded
    assert session.callbacks == {}


def settle() -> None:
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QApplication.processEvents()


def main() -> int:
    application()
    new_maya(batch=False)
    before = 0
    for order in itertools.permutations(STEPS):
        for number in range(ROUNDS):
            one(order)
            if not before and number:
                before = threading.active_count()
    gc.collect()
    settle()
    left = [type(w).__name__ for w in QApplication.topLevelWidgets() if isinstance(w, Panel)]
    assert not left, left
    assert threading.active_count() <= before, threading.enumerate()
    print("closed in every order")
    return 0


if __name__ == "__main__":
    sys.exit(main())
