"""Houdini's windows: panes, the 3D view and its flipbook, the panel."""

from __future__ import annotations

from pathlib import Path

from . import _enums as enums
from ._errors import OperationFailed
from ._images import png
from ._session import guarded, session


@guarded
class PaneTab:
    def __init__(self, current=True) -> None:
        self._current = current

    def isCurrentTab(self):
        return self._current

    def setIsCurrentTab(self):
        self._current = True


class NetworkEditor(PaneTab):
    pass


@guarded
class PythonPanel(PaneTab):
    _interface = None

    def activeInterface(self):
        return self._interface

    def setActiveInterface(self, interface):
        self._interface = interface
        self._widget = interface.create()


@guarded
class GeometryViewport:
    def camera(self):
        from ._nodes import node

        return node(session.view_camera) if session.view_camera else None


@guarded
class FlipbookSettings:
    def __init__(self) -> None:
        self._values = {"outputToMPlay": True, "useResolution": False, "output": ""}

    def stash(self):
        made = FlipbookSettings()
        made._values = {**self._values, "stashed": True}
        return made

    def _set(self, name, value):
        if "stashed" not in self._values:
            raise RuntimeError("the artist's own flipbook settings would change")
        self._values[name] = value

    def frameRange(self, value):
        self._set("frameRange", value)

    def output(self, value):
        self._set("output", value)

    def outputToMPlay(self, value):
        self._set("outputToMPlay", value)

    def leaveFrameAtEnd(self, value):
        self._set("leaveFrameAtEnd", value)

    def useResolution(self, value):
        self._set("useResolution", value)

    def resolution(self, value):
        self._set("resolution", value)


@guarded
class SceneViewer(PaneTab):
    def curViewport(self):
        return GeometryViewport()

    def flipbookSettings(self):
        return FlipbookSettings()

    def flipbook(self, viewport=None, settings=None, open_dialog=False):
        values = settings._values
        if open_dialog or values["outputToMPlay"]:
            raise RuntimeError("flipbook would open a window")
        first, last = values["frameRange"]
        if first != last or not values["useResolution"]:
            raise NotImplementedError("other flipbooks")
        # Without a variable for it, the frame's number goes before the ending.
        output = Path(values["output"])
        numbered = output.with_name(f"{output.stem}.{int(first):04}{output.suffix}")
        numbered.write_bytes(png(*values["resolution"]))


class Interface:
    """What a ``.pypanel`` file declares."""

    def __init__(self, name, script) -> None:
        self._name, self._script = name, script

    def create(self):
        names: dict = {}
        exec(self._script, names)
        return names["onCreateInterface"]()


@guarded
class Desktop:
    def createFloatingPaneTab(self, pane_tab_type, position=(), size=()):
        if pane_tab_type is not enums.paneTabType.PythonPanel:
            raise NotImplementedError("other panes")
        made = PythonPanel()
        session.panes.append(made)
        return made


@guarded
class pypanel:
    @staticmethod
    def interfaceByName(name):
        return session.interfaces.get(name)


@guarded
class _Ui:
    def paneTabs(self):
        return tuple(session.panes)

    def curDesktop(self):
        return Desktop()

    def orientationUpAxis(self):
        return enums.orientUpAxis.Z if session.z_up else enums.orientUpAxis.Y

    def setStatusMessage(self, message, severity=enums.severityType.Message):
        if not isinstance(severity, enums.EnumValue):
            raise TypeError("a severityType is needed")
        session.status.append(message)

    def copyTextToClipboard(self, text):
        session.clipboard = text

    def addSelectionCallback(self, callback):
        session.selection_callbacks.append(callback)

    def removeSelectionCallback(self, callback):
        for index, each in enumerate(session.selection_callbacks):
            if each is callback:
                del session.selection_callbacks[index]
                return
        raise OperationFailed("The callback was not registered.")


ui = _Ui()
