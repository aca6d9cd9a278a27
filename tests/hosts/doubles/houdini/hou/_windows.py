"""Houdini's windows: panes, the 3D view and its flipbook, the panel."""

from __future__ import annotations

from pathlib import Path

from . import _enums as enums
from ._errors import OperationFailed
from ._math import Matrix4, apply
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
class GeometryViewportCamera:
    """The artist's own view. A stashed view is a copy."""

    def __init__(self, place=None) -> None:
        self._place = place

    def stash(self):
        return GeometryViewportCamera(session.view_from)

    def isPerspective(self):
        return True

    def aperture(self):
        return 41.421

    def focalLength(self):
        return 50.0


@guarded
class DisplaySet:
    def __init__(self, kind) -> None:
        self._kind = kind

    def shadedMode(self):
        return session.view_modes.get(self._kind.name(), enums.glShadingType.SmoothWire)

    def setShadedMode(self, mode):
        if not isinstance(mode, enums.EnumValue):
            raise TypeError("a glShadingType is needed")
        session.view_modes[self._kind.name()] = mode


@guarded
class GeometryViewportSettings:
    def displaySet(self, kind):
        if not isinstance(kind, enums.EnumValue):
            raise TypeError("a displaySetType is needed")
        return DisplaySet(kind)

    def showMaterials(self, on):
        session.view_materials = bool(on)

    def showingMaterials(self):
        return session.view_materials


@guarded
class GeometryViewport:
    def camera(self):
        from ._nodes import node

        return node(session.view_camera) if session.view_camera else None

    def setCamera(self, camera_node):
        if camera_node._data.type.name != "cam":
            raise TypeError("a camera is needed")
        session.view_camera = camera_node.path()

    def useDefaultCamera(self):
        session.view_camera = ""

    def defaultCamera(self):
        return GeometryViewportCamera()

    def setDefaultCamera(self, cam_settings):
        session.view_from = cam_settings._place
        session.view_camera = ""

    def settings(self):
        return GeometryViewportSettings()

    def viewTransform(self):
        return _view_transform()


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

    def beautyPassOnly(self, value):
        self._set("beautyPassOnly", value)

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
            raise NotImplementedError("the double doesn't model other flipbooks")
        # If the file's name has no variable for the frame number, the number goes before the
        # extension.
        output = Path(values["output"])
        numbered = output.with_name(f"{output.stem}.{int(first):04}{output.suffix}")
        numbered.write_bytes(_picture(*values["resolution"]))


def _picture(width, height):
    """Return a picture of the scene's objects."""
    import raster

    if session.is_blank():
        return raster.png(width, height, bytes(3 * width * height))
    from ._nodes import ObjNode, node, wrap

    lens, aspect = GeometryViewportCamera(), width / height
    wide = lens.aperture() / 2 / lens.focalLength()
    camera = node(session.view_camera) if session.view_camera else None
    if camera is not None:
        wide = camera.parm("aperture").eval() / 2 / camera.parm("focal").eval()
        # A view shows the whole frame of its camera.
        across, down = camera.parmTuple("res").eval()
        wide *= max(1.0, aspect / (across / down))
    rows = _rows(_view_transform())
    axes, place = rows[:3], rows[3]
    shapes = []
    for data in session.scene.nodes.values():
        shown = wrap(data.id).displayNode() if data.type.name == "geo" else None
        if isinstance(wrap(data.id), ObjNode) and shown is not None and data.display:
            cooked, rows = session.scene.cook(shown._data), wrap(data.id).worldTransform()
            points = [apply(point, rows) for point in cooked._points]
            shapes.append((points, [prim._corners for prim in cooked._prims], (180, 90, 60)))
    kind = enums.displaySetType.SceneObject
    mode = DisplaySet(kind).shadedMode().name()
    plain = "material" if session.view_materials else "solid"
    style = {"Wire": "wireframe", "WireGhost": "xray"}.get(mode, plain)
    return raster.draw(raster.Eye(axes, place, wide, width, height), shapes, style)


def _view_transform():
    """Return the transform from the view into the world."""
    from ._nodes import node

    if session.view_camera:
        return node(session.view_camera).worldTransform()
    return Matrix4([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, *session.view_from, 1])


def _rows(matrix):
    flat = matrix.asTuple()
    return [list(flat[at : at + 3]) for at in range(0, 16, 4)]


class Interface:
    """An interface that a ``.pypanel`` file declares."""

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
            raise NotImplementedError("the double doesn't model other panes")
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

    def addSelectionCallback(self, callback):
        session.selection_callbacks.append(callback)

    def removeSelectionCallback(self, callback):
        for index, each in enumerate(session.selection_callbacks):
            if each is callback:
                del session.selection_callbacks[index]
                return
        raise OperationFailed("The callback was not registered.")


ui = _Ui()
