"""Runs FreeCAD with a real window on a separate screen, with the host from
``examples/host/freecad``. The artist's actions are key presses, mouse input, or code that a timer
runs inside FreeCAD, even while a dialog is open.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import indent

from blender_program import SHADERS
from callboard_testing.fake_client import FakeClient
from hosts.blender_gui_rig import DEADLINE, Gui
from source_trees import PROJECT

EXAMPLE = PROJECT / "examples" / "host" / "freecad"
#: The folder of FreeCAD's themes.
THEMES = Path("/usr/share/freecad/Gui/Stylesheets")
_DRIVER = """
import faulthandler, json, os, signal, sys, traceback
import FreeCAD, FreeCADGui
from PySide2 import QtCore, QtGui, QtWidgets

sys.path += os.environ["FREECAD_PACKAGES"].split(os.pathsep)  # it doesn't look at PYTHONPATH
folder = os.environ["FREECAD_DRIVER"]
# FreeCAD shows what Python prints in a window of its own.
output = open(os.path.join(folder, "..", "freecad.txt"), "a")
faulthandler.enable(output)
faulthandler.register(signal.SIGUSR1, output)
names = {"FreeCAD": FreeCAD, "FreeCADGui": FreeCADGui}
names.update(QtCore=QtCore, QtGui=QtGui, QtWidgets=QtWidgets, output=output)

def middle(widget):
    "Where on the screen to click a widget, once it can be clicked."
    if widget is None or not widget.isVisible() or widget.visibleRegion().isEmpty():
        return None
    at = widget.mapToGlobal(widget.visibleRegion().boundingRect().center())
    return at.x(), at.y()

names["middle"] = middle

def act():
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".py"):
            continue
        path = os.path.join(folder, name)
        with open(path) as file:
            code = file.read()
        os.remove(path)
        names.pop("answer", None)
        try:
            exec(code, names)
            outcome = {"value": names.get("answer")}
        except BaseException:
            outcome = {"error": traceback.format_exc()}
        with open(path + ".part", "w") as file:
            json.dump(outcome, file)
        os.replace(path + ".part", path + ".json")

timer = QtCore.QTimer()
timer.timeout.connect(act)
FreeCADGui.getMainWindow().workbenchActivated.connect(lambda *_: timer.start(10))
"""
_SETTINGS = """<?xml version="1.0" encoding="UTF-8" standalone="no" ?>
<FCParameters><FCParamGroup Name="Root"><FCParamGroup Name="BaseApp">
<FCParamGroup Name="Preferences"><FCParamGroup Name="General">
<FCText Name="AutoloadModule">PartWorkbench</FCText>
</FCParamGroup></FCParamGroup></FCParamGroup></FCParamGroup></FCParameters>
"""
#: The plug-in, its server and its panel.
PARTS = """
from callboard_freecad.plug_in import plug_in
from callboard_ui.panel import Panel
from legible_text import least
panel = plug_in.dock.findChild(Panel)
"""
#: A widget for the artist. Dragging it moves ``Dragged`` in a transaction, as FreeCAD's own drags
#: do.
MOVER = """
class Mover(QtWidgets.QWidget):
    begun = moves = 0
    held = False
    def mousePressEvent(self, event):
        self.begun, self.held = self.begun + 1, True
        FreeCAD.setActiveTransaction("Drag")
    def mouseMoveEvent(self, event):
        document = FreeCAD.ActiveDocument
        one = document and document.getObject("Dragged")
        if one:
            self.moves += 1
            one.Placement.Base.x += 1
    def mouseReleaseEvent(self, event):
        self.held = False
        FreeCAD.closeActiveTransaction()

mover = Mover(FreeCADGui.getMainWindow())
mover.setGeometry(200, 200, 300, 200)
mover.show()
"""


class FreeCAD(Gui):
    """One FreeCAD. Call ``run`` from one thread at a time."""

    def key(self, *keys: str) -> None:
        """Press keys in the open dialog, or over the view."""
        window = self.run(
            "window = FreeCADGui.getMainWindow()\n"
            "dialog = QtWidgets.QApplication.activeModalWidget()\n"
            "if dialog is None: window.centralWidget().setFocus()\n"
            "answer = int((dialog or window).winId())"
        )
        self.xdotool("windowfocus", str(window))
        self.run("")
        if keys:
            self.xdotool("key", *keys)

    def output(self) -> str:
        return (self.folder / "freecad.txt").read_text("utf-8", "replace")[-3000:]

    def serve(self) -> None:
        """Wait until the server is running and the panel is open."""
        ready = f"{PARTS}answer = plug_in.server is not None and panel is not None"
        tried = f"try:\n{indent(ready, '    ')}\nexcept (ImportError, AttributeError): pass"
        self.wait(lambda: self.run(tried), "server")
        self.run(PARTS)
        # Otherwise the Python console would get the keys.
        self.run(
            "for each in FreeCADGui.getMainWindow().findChildren(QtWidgets.QDockWidget):\n"
            "    if each.widget().objectName() == 'Python console': each.close()"
        )

    def client(self) -> FakeClient:
        url, token = self.run("answer = [plug_in.server.url, plug_in.server.token]")
        return FakeClient(url, token)

    def new_document(self) -> None:
        """Close every document without saving, and make one."""
        self.run(
            "for name in list(FreeCAD.listDocuments()): FreeCAD.closeDocument(name)\n"
            "FreeCAD.newDocument('Test')"
        )


@contextmanager
def freecad(folder: Path, display: str, **variables: str) -> Iterator[FreeCAD]:
    """Run FreeCAD with its settings below ``folder``."""
    (folder / "driver").mkdir(parents=True)
    (folder / "rig").mkdir()
    # FreeCAD drops the names that this file sets, but not those of a module.
    (folder / "rig" / "InitGui.py").write_text("import freecad_driver", "utf-8")
    (folder / "rig" / "freecad_driver.py").write_text(_DRIVER, "utf-8")
    (folder / "user.cfg").write_text(_SETTINGS, "utf-8")
    packages = [str(PROJECT / tree) for tree in ("core", "hosts", "ui", "tests/ui")]
    packages += [path for path in sys.path if path.endswith("site-packages")]
    environment = {
        **os.environ,
        "DISPLAY": display,
        "LC_ALL": "C.UTF-8",
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "MESA_SHADER_CACHE_DIR": SHADERS,
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "CALLBOARD_HOME": str(folder / "callboard"),
        "FREECAD_DRIVER": str(folder / "driver"),
        "FREECAD_PACKAGES": os.pathsep.join(packages),
        **variables,
    }
    for name in ("XDG_CONFIG_HOME", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "VIRTUAL_ENV"):
        environment.pop(name, None)
    with (folder / "freecad.txt").open("w") as output:
        process = subprocess.Popen(
            [
                *("freecad", "-u", str(folder / "user.cfg")),
                *("-M", str(folder / "rig"), "-M", str(EXAMPLE)),
            ],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
        )
    shown = FreeCAD(process, folder, display)
    try:
        yield shown
    finally:
        process.kill()
        process.wait(DEADLINE)
