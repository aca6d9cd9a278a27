"""Starts and stops callboard inside FreeCAD, and shows its panel in a dock."""

from __future__ import annotations

import logging

import FreeCAD
from qtpy.QtCore import Qt, QTimer
from qtpy.QtWidgets import QApplication, QDockWidget, QMainWindow, QSplashScreen

from callboard_freecad.host import FreeCADHost
from callboard_qt import Options, QtPlugIn


class Preferences(Options):
    def read(self, name: str) -> int | None:
        value = FreeCAD.ParamGet("User parameter:Plugins/Callboard").GetInt(name, -1)
        return None if value < 0 else int(value)

    def write(self, name: str, value: int) -> None:
        FreeCAD.ParamGet("User parameter:Plugins/Callboard").SetInt(name, value)


class FreeCADPlugIn(QtPlugIn):
    dock: QDockWidget | None = None

    def has_artist(self) -> bool:
        return bool(FreeCAD.GuiUp)

    def arrive(self) -> None:
        _main_window().workbenchActivated.connect(self._complete)
        QApplication.instance().aboutToQuit.connect(self.unload)

    def _complete(self, *_: object) -> None:
        _main_window().workbenchActivated.disconnect(self._complete)
        _main_window().workbenchActivated.connect(self._add_menu)
        self._add_menu()
        self._wait_for_start()

    def _add_menu(self, *_: object) -> None:
        """Add our menu, which FreeCAD removes whenever it builds a workbench's menus."""
        bar = _main_window().menuBar()
        if all(each.text() != "Callboard" for each in bar.actions()):
            bar.addMenu("Callboard").addAction("Self-test", self.self_test)

    def _wait_for_start(self) -> None:
        """Wait until the splash screen has closed. FreeCAD runs Qt's loop even before that, but
        crashes if a document is closed that early."""
        if any(isinstance(each, QSplashScreen) for each in QApplication.topLevelWidgets()):
            QTimer.singleShot(50, self._wait_for_start)
        else:
            self.ready()

    def ready(self) -> None:
        self.show_panel()
        super().ready()

    def depart(self) -> None:
        dock, self.dock = self.dock, None
        if dock is not None:
            dock.close()
            dock.deleteLater()

    def show_panel(self) -> None:
        if self.dock is None:
            window = _main_window()
            self.dock = QDockWidget("Callboard", window)
            # FreeCAD stores the dock's position under this name.
            self.dock.setObjectName("CallboardDock")
            self.dock.setWidget(self.make_panel())
            window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.dock)
        self.dock.show()
        self.dock.raise_()

    def say(self, text: str, level: int) -> None:
        tell = FreeCAD.Console.PrintMessage if level <= logging.INFO else FreeCAD.Console.PrintError
        tell(f"{text}\n")


def _main_window() -> QMainWindow:
    import FreeCADGui

    return FreeCADGui.getMainWindow()


plug_in = FreeCADPlugIn("FreeCAD", FreeCADHost, Preferences())
