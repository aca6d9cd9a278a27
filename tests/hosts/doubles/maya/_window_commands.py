"""Commands that need Maya's windows."""

from __future__ import annotations

from pathlib import Path

from ._images import png
from ._registry import command
from ._session import session


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
        raise NotImplementedError("other playblasts")
    if session.panels.get(editorPanelName) != "modelPanel":
        raise RuntimeError(f"'{editorPanelName}' is no 3D view")
    width, height = (round(size * percent / 100) for size in widthHeight)
    session.tell("condition", "playblasting", True)
    Path(completeFilename).write_bytes(png(width, height))
    session.tell("condition", "playblasting", False)
    return completeFilename


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
    """What Maya does with the window layout after a restart. A plug-in is found by its file's name,
    and only where the control has Maya check that it is loaded."""
    from ._plugins import load

    for name, (script, plugin) in session.controls.items():
        from PySide6.QtWidgets import QVBoxLayout, QWidget

        QVBoxLayout(session.windows.setdefault(name, QWidget()))
        if plugin and Path(folder, plugin).is_file():
            load(Path(folder, plugin).as_posix())
        build(name, script)


def build(name: str, script: str) -> None:
    """What Maya does when it shows a control."""
    session.windows["building"] = session.windows[name]
    try:
        exec(script, {})
    finally:
        del session.windows["building"]
