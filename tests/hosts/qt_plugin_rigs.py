"""Maya, Houdini and 3ds Max with a GUI, for one suite: a real QApplication around the doubles,
and each application's start, end and menu."""

from __future__ import annotations

import re
import runpy
import sys
import xml.etree.ElementTree as ET
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from qt_rig import application
from qtpy import shiboken
from qtpy.QtCore import QEvent
from qtpy.QtWidgets import QDockWidget, QLabel, QWidget

from callboard.host import Host
from callboard_qt.plug_in import QtPlugIn
from needed import missing, need
from serving import remember_skills


class Rig(ABC):
    """One application. ``host`` makes its host. ``plug_in`` is callboard's plug-in in it."""

    host: Callable[..., Host]
    plug_in: QtPlugIn
    #: The double's session.
    session: Any
    #: The name of a cube that a client made.
    cube: str
    #: A tool, a prompt and a workflow of the application's own skill.
    skill: tuple[str, str, str]
    #: The workflow's inputs in this application.
    inputs: ClassVar[dict[str, Any]]
    #: An expression for ``script__execute``, and its value.
    script: tuple[str, object]

    @abstractmethod
    def load(self) -> None:
        """Start the application and let it be idle once."""

    @abstractmethod
    def unload(self) -> None:
        """Remove the plug-in. Afterwards the double refuses every call from callboard."""

    @abstractmethod
    def quit(self) -> None: ...

    @abstractmethod
    def choose(self, entry: str) -> None:
        """Choose an entry of the menu: open, start, stop, copy, self_test or autostart."""

    @abstractmethod
    def labels(self) -> list[str]:
        """Return the labels of the menu's entries."""

    @abstractmethod
    def callbacks(self) -> list[Any]:
        """Return our callbacks that the application would still call."""

    @abstractmethod
    def status_line(self) -> str:
        """Return the message that the application is showing."""

    @abstractmethod
    def panels(self) -> list[QWidget]: ...

    @abstractmethod
    def objects(self) -> list[str]: ...

    @abstractmethod
    def newest_undo(self) -> str: ...

    @abstractmethod
    def check_built(self) -> None:
        """Check that the workflow has built the objects that it promises."""

    @abstractmethod
    def begin(self, what: str) -> None:
        """Begin to ``open`` a file, or to ``hold`` the main thread with something else."""

    @abstractmethod
    def end(self, what: str) -> None: ...

    #: The text that shows an artist why ``hold`` keeps the application busy.
    held_by: str

    def words(self) -> str:
        """Return the text of the only panel, once Qt has deleted the widgets that are due for
        deletion."""
        application().sendPostedEvents(None, QEvent.Type.DeferredDelete)
        (panel,) = self.panels()
        (label,) = panel.findChildren(QLabel)
        return str(label.text())


class MayaRig(Rig):
    cube = "|Cube"
    skill = (
        "maya_modelling__bevel_edges",
        "maya-modelling.bevel_all_edges",
        "maya-modelling.rounded_crate",
    )
    inputs: ClassVar[dict[str, Any]] = {}
    script = ("cmds.polyCube(name='Made')[0]", "Made")
    held_by = "playing the animation"
    _ENTRIES: ClassVar[dict[str, str]] = {
        "open": "Open Callboard",
        "start": "Start",
        "stop": "Stop",
        "copy": "Copy URL",
        "self_test": "Self-test",
        "autostart": "Start with Maya",
    }

    def __init__(self, folder: Path) -> None:
        from maya._session import session
        from maya_rig import REAL, new_maya

        if REAL:
            pytest.skip("mayapy has no GUI")
        new_maya(batch=False)
        from callboard_maya.host import MayaHost
        from callboard_maya.plugin import plug_in

        if missing("pxr") is None:
            from maya import cmds

            cmds.loadPlugin("mayaUsdPlugin")
        self.host, self.plug_in, self.session = MayaHost, plug_in, session

    def load(self) -> None:
        from maya import cmds, utils
        from maya_rig import PLUGIN

        cmds.loadPlugin(PLUGIN)
        utils.processIdleEvents()

    def unload(self) -> None:
        from maya import cmds

        if cmds.pluginInfo("callboard_plugin", query=True, loaded=True):
            cmds.unloadPlugin("callboard_plugin")
        assert self.session.windows == {}

    def quit(self) -> None:
        from maya.api.OpenMaya import MSceneMessage

        self.session.tell("scene", MSceneMessage.kMayaExiting)

    def choose(self, entry: str) -> None:
        arguments = (not self.plug_in.options.autostart,) if entry == "autostart" else ()
        self.session.windows["callboardMenu"]["items"][self._ENTRIES[entry]](*arguments)

    def labels(self) -> list[str]:
        return list(self.session.windows["callboardMenu"]["items"])

    def callbacks(self) -> list[Any]:
        return list(self.session.callbacks)

    def status_line(self) -> str:
        return self.session.warnings[-1] if self.session.warnings else ""

    def panels(self) -> list[QWidget]:
        from callboard_maya.ui.panel import CONTROL

        return [window for name, window in self.session.windows.items() if name == CONTROL]

    def objects(self) -> list[str]:
        from maya import cmds

        return [path for path in cmds.ls("Cube", long=True) if "|" in path]

    def newest_undo(self) -> str:
        from maya import cmds

        return str(cmds.undoInfo(query=True, undoName=True))

    def check_built(self) -> None:
        from maya import cmds

        # A cube has six faces, and a rounded one has more.
        assert cmds.polyEvaluate("Crate", face=True) > 6

    def begin(self, what: str) -> None:
        from maya.api.OpenMaya import MSceneMessage

        if what == "open":
            self.session.tell("scene", MSceneMessage.kBeforeOpen)
        else:
            self.session.tell("condition", "playingBack", True)

    def end(self, what: str) -> None:
        from maya.api.OpenMaya import MSceneMessage

        if what == "open":
            self.session.tell("scene", MSceneMessage.kAfterOpen)
        else:
            self.session.tell("condition", "playingBack", False)


class HoudiniRig(Rig):
    cube = "/obj/Cube"
    skill = (
        "houdini_networks__create_node",
        "houdini-networks.repair_network",
        "houdini-networks.raised_box",
    )
    inputs: ClassVar[dict[str, Any]] = {"height": 3}
    script = ("hou.fps()", 24.0)
    held_by = "playing the animation"
    _ENTRIES: ClassVar[dict[str, str]] = {"open": "show", "copy": "copy_url"}

    def __init__(self, folder: Path) -> None:
        need("pxr")
        from houdini_rig import PACKAGE, REAL, hou, new_houdini

        if REAL:
            pytest.skip("hython has no GUI")
        from hou._windows import Interface

        new_houdini(windows=True)
        self.hou, self.session, self.package = hou, hou._session.session, PACKAGE
        self.session.preferences = str(folder)
        script = ET.parse(PACKAGE / "python_panels/callboard.pypanel").findtext("interface/script")
        self.session.interfaces["callboard"] = Interface("callboard", script)
        from callboard_houdini.host import HoudiniHost
        from callboard_houdini.plugin import plug_in

        self.host, self.plug_in = HoudiniHost, plug_in

    def load(self) -> None:
        self.session.unloaded = False
        runpy.run_path(str(self.package / "python3.11libs/uiready.py"))

    def unload(self) -> None:
        for panel in self.panels():
            panel.deleteLater()
        self.plug_in.unload()
        self.session.unloaded = True

    def quit(self) -> None:
        application().aboutToQuit.emit()

    def choose(self, entry: str) -> None:
        id = f"h.callboard_{self._ENTRIES.get(entry, entry)}"
        entries = ET.parse(self.package / "MainMenuCommon.xml").iter("scriptItem")
        (code,) = (entry.findtext("scriptCode") for entry in entries if entry.get("id") == id)
        assert code is not None
        exec(code, {})

    def labels(self) -> list[str]:
        labels = ET.parse(self.package / "MainMenuCommon.xml").iter("label")
        return [label.text or "" for label in labels]

    def callbacks(self) -> list[Any]:
        from hou._nodes import _callbacks

        ours = self.session
        return [
            *ours.file_callbacks,
            *ours.playbar_callbacks,
            *ours.selection_callbacks,
            *_callbacks,
        ]

    def status_line(self) -> str:
        return self.session.status[-1] if self.session.status else ""

    def panels(self) -> list[QWidget]:
        self.session.unloaded = False
        tabs = self.hou.ui.paneTabs()
        made = [tab._widget for tab in tabs if isinstance(tab, self.hou.PythonPanel)]
        return [panel for panel in made if shiboken.isValid(panel)]

    def objects(self) -> list[str]:
        return [node.path() for node in self.hou.node("/obj").children()]

    def newest_undo(self) -> str:
        return str(self.hou.undos.undoLabels()[0])

    def check_built(self) -> None:
        shown = self.hou.node("/obj/Crate").displayNode()
        assert shown.path() == "/obj/Crate/raise"
        assert shown.geometry().boundingBox().minvec()[1] == 2.0

    def begin(self, what: str) -> None:
        if what == "open":
            self.session.tell(self.session.file_callbacks, self.hou.hipFileEventType.BeforeLoad)
        else:
            started = self.hou.playbarEvent.Started
            self.session.tell(self.session.playbar_callbacks, started, 1.0)

    def end(self, what: str) -> None:
        if what == "open":
            self.session.tell(self.session.file_callbacks, self.hou.hipFileEventType.AfterLoad)
        else:
            stopped = self.hou.playbarEvent.Stopped
            self.session.tell(self.session.playbar_callbacks, stopped, 1.0)


class MaxRig(Rig):
    cube = "Cube"
    skill = (
        "max_modifiers__add_modifier",
        "max-modifiers.review_stack",
        "max-modifiers.bent_panel",
    )
    inputs: ClassVar[dict[str, Any]] = {"angle": 30}
    script = ("rt.frameRate", 30)
    held_by = "rendering"
    _ENTRIES: ClassVar[dict[str, str]] = {
        "open": "CallboardOpen",
        "start": "CallboardStart",
        "stop": "CallboardStop",
        "copy": "CallboardCopyUrl",
        "self_test": "CallboardSelfTest",
        "autostart": "CallboardAutostart",
    }

    def __init__(self, folder: Path) -> None:
        need("pxr")
        from max_rig import BUNDLE, REAL, new_max, pymxs

        if REAL:
            pytest.skip("3dsmaxbatch has no GUI")
        new_max(windows=True)
        from pymxs._session import session

        from callboard_max.host import MaxHost
        from callboard_max.plugin import plug_in

        self.rt, self.session, self.bundle = pymxs.runtime, session, BUNDLE
        self.host, self.plug_in = MaxHost, plug_in

    def macros(self) -> dict[str, tuple[str, bool]]:
        """Return each macro's Python code by name, and whether running it leaves the artist's undo
        list alone."""
        text = (self.bundle / "Contents/macroscripts/callboard.mcr").read_text(encoding="utf-8")
        macro = r'macroScript (\w+)\n.*?python\.Execute "(.*?)"([^\n]*)'
        return {
            name: (code, rest.strip() == "clearUndoBuffer:false")
            for name, code, rest in re.findall(macro, text, re.DOTALL)
        }

    def load(self) -> None:
        self.session.unloaded = False
        runpy.run_path(str(self.bundle / "Contents/startup/callboard_startup.py"))

    def unload(self) -> None:
        self.plug_in.unload()
        self.session.unloaded = True

    def quit(self) -> None:
        self.session.tell("preSystemShutdown")

    def choose(self, entry: str) -> None:
        code, undo_stays = self.macros()[self._ENTRIES[entry]]
        if not undo_stays:
            self.session.forget_undo()
        exec(code, {})

    def labels(self) -> list[str]:
        text = (self.bundle / "Contents/macroscripts/callboard.mcr").read_text(encoding="utf-8")
        return re.findall(r'buttonText:"(.*?)"', text)

    def callbacks(self) -> list[Any]:
        return [each for each in self.session.callbacks if each[2].startswith("callboard")]

    def status_line(self) -> str:
        return self.session.prompts[-1] if self.session.prompts else ""

    def panels(self) -> list[QWidget]:
        import qtmax

        # An earlier test's dock is a child until Qt has removed it.
        application().sendPostedEvents(None, QEvent.Type.DeferredDelete)
        return list(qtmax.GetQMaxMainWindow().findChildren(QDockWidget))

    def objects(self) -> list[str]:
        return [str(node.name) for node in self.rt.objects]

    def newest_undo(self) -> str:
        return str(self.session.undo[-1][0])

    def check_built(self) -> None:
        stack = self.rt.getNodeByName("Panel").modifiers
        assert [str(self.rt.classOf(modifier)) for modifier in stack] == ["Bend", "Shell"]
        assert stack[0].BendAngle == 30

    def begin(self, what: str) -> None:
        self.session.tell("filePreOpen" if what == "open" else "preRender")

    def end(self, what: str) -> None:
        self.session.tell("filePostOpen" if what == "open" else "postRender")


RIGS = {"maya": MayaRig, "houdini": HoudiniRig, "3dsmax": MaxRig}


def new_rig(application_name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a new rig of that application, with the artist's files below ``folder``."""
    monkeypatch.setenv("CALLBOARD_HOME", str(folder / "home"))
    remember_skills()
    monkeypatch.setattr(sys, "path", list(sys.path))
    application()
    return RIGS[application_name](folder)
