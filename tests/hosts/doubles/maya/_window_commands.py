"""Commands that need Maya's windows."""

from __future__ import annotations

from pathlib import Path

import raster

from . import _matrices as mx
from ._cameras import frustum
from ._dag_commands import is_visible, one
from ._registry import command
from ._session import session

#: A new model editor's settings.
_VIEW = {
    **{"camera": "|persp", "displayAppearance": "smoothShaded", "displayLights": "default"},
    **{"displayTextures": False, "useDefaultMaterial": False},
    **{"xray": False, "wireframeOnShaded": False, "grid": True, "selectionHiliteDisplay": True},
    **{"cameras": True, "lights": True, "locators": True, "joints": True},
    **{"handles": True, "manipulators": True},
}


@command(windows=True)
def playblast(
    completeFilename=None,
    compression="",
    editorPanelName="",
    format="",
    frame=(),
    offScreen=False,
    percent=50,
    showOrnaments=True,
    viewer=True,
    widthHeight=None,
):
    if viewer:
        raise RuntimeError("playblast would open a viewer")
    if (format, compression) != ("image", "png") or len(frame) != 1:
        raise NotImplementedError("the double doesn't model other playblasts")
    if session.panels.get(editorPanelName) != "modelPanel":
        raise RuntimeError(f"'{editorPanelName}' isn't a 3D view")
    width, height = (round(size * percent / 100) for size in widthHeight)
    session.tell("condition", "playblasting", True)
    Path(completeFilename).write_bytes(_view(session.editor(editorPanelName, _VIEW), width, height))
    session.tell("condition", "playblasting", False)
    return completeFilename


def _view(editor, width, height):
    if session.is_blank():
        return raster.png(width, height, bytes(3 * width * height))
    scene = session.scene
    camera = one(editor["camera"])
    transform = camera if camera.type == "transform" else scene.nodes[camera.parent]
    lens = scene.shape(transform).attributes
    if lens["orthographic"]:
        raise NotImplementedError("the double doesn't model orthographic views")
    wide = frustum(lens, width / height)[1] / lens["nearClipPlane"]
    place = scene.world(transform)
    axes = [row[:3] for row in place[:3]]
    eye = raster.Eye(axes, place[3][:3], wide, width, height)
    shapes = [
        ([mx.apply(p, scene.world(scene.nodes[n.parent])) for p in n.mesh.points], n.mesh.faces)
        for n in scene.nodes.values()
        if n.mesh is not None and is_visible(n)
    ]
    wires = editor["displayAppearance"] == "wireframe"
    plain = "solid" if editor["useDefaultMaterial"] else "material"
    style = "wireframe" if wires else "xray" if editor["xray"] else plain
    return raster.draw(eye, [(*shape, (180, 90, 60)) for shape in shapes], style)


@command(windows=True)
def modelEditor(
    panel, camera=None, cameras=None, displayAppearance=None, displayLights=None,
    displayTextures=None, grid=None, handles=None, joints=None, lights=None, locators=None,
    manipulators=None, selectionHiliteDisplay=None, useDefaultMaterial=None,
    wireframeOnShaded=None, xray=None, mode="create",
):  # fmt: skip
    given = {k: v for k, v in locals().items() if k not in ("panel", "mode") and v is not None}
    if session.panels.get(panel) != "modelPanel":
        raise RuntimeError(f"'{panel}' isn't a 3D view")
    editor = session.editor(panel, _VIEW)
    if mode == "query":
        (flag,) = given
        return editor[flag]
    if mode != "edit":
        raise NotImplementedError("the double doesn't model new editors")
    if camera is not None:
        one(camera)
    editor.update(given)
    return panel


@command(windows=True)
def getPanel(type=None, typeOf=None, visiblePanels=False, withFocus=False):
    if withFocus:
        return session.focus
    if typeOf is not None:
        return session.panels[typeOf]
    if visiblePanels:
        return list(session.panels)
    return [name for name, kind in session.panels.items() if kind == type]


@command(windows=True)
def menu(*names, exists=False, label="", parent="", tearOff=False, mode="create"):
    if exists:
        return names[0] in session.windows
    if parent != "MayaWindow":
        raise RuntimeError(f"Object '{parent}' not found.")
    session.windows[names[0]] = {"label": label, "items": {}}
    return names[0]


@command(windows=True)
def menuItem(*names, checkBox=None, command=None, label="", parent=""):
    if parent not in session.windows:
        raise RuntimeError(f"Object '{parent}' not found.")
    session.windows[parent]["items"][label] = command
    return f"MayaWindow|{parent}|{label}"


@command(windows=True)
def deleteUI(*names, control=False, menu=False):
    for name in names:
        if name not in session.windows:
            raise RuntimeError(f"Object '{name}' not found.")
        widget = session.windows.pop(name)
        if not isinstance(widget, dict):
            widget.deleteLater()


@command(windows=True)
def workspaceControl(
    *names,
    checksPlugins=False,
    exists=False,
    initialWidth=0,
    label="",
    loadImmediately=False,
    minimumWidth=0,
    requiredPlugin="",
    restore=False,
    retain=True,
    uiScript="",
    mode="create",
):
    (name,) = names
    if exists:
        return name in session.windows
    if mode == "edit":
        session.windows[name].show()
        return name
    if name in session.windows:
        raise RuntimeError(f"Object's name '{name}' is not unique.")
    from PySide6.QtWidgets import QVBoxLayout, QWidget

    session.controls[name] = (uiScript, requiredPlugin if checksPlugins else "")
    widget = session.windows[name] = QWidget()
    QVBoxLayout(widget)
    widget.setWindowTitle(label)
    if loadImmediately:
        build(name, uiScript)
    return name


def restore_controls(folder: str) -> None:
    """Restore the window layout as Maya does after a restart. A plug-in is found by its file's
    name, and only if the control tells Maya to check that the plug-in is loaded."""
    from ._plugins import load

    for name, (script, plugin) in session.controls.items():
        from PySide6.QtWidgets import QVBoxLayout, QWidget

        QVBoxLayout(session.windows.setdefault(name, QWidget()))
        if plugin and Path(folder, plugin).is_file():
            load(Path(folder, plugin).as_posix())
        build(name, script)


def build(name: str, script: str) -> None:
    """Build a control as Maya does when it shows the control."""
    session.windows["building"] = session.windows[name]
    try:
        exec(script, {})
    finally:
        del session.windows["building"]
