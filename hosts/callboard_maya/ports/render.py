"""The ``render`` port: rendering to files.

The scene's own renderer is used if it is Arnold, Maya Hardware 2.0 or Maya Software. In place of
any other renderer, Maya with a GUI uses Hardware 2.0. Maya without a GUI uses Maya Software, which
doesn't need a graphics card. The answer names the renderer and the camera.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from maya import cmds

from callboard.errors import HostError
from callboard.host import View, decompose
from callboard_maya.application.names import full_path, telling
from callboard_maya.application.undo import unnoticed
from callboard_maya.parts import transforms
from callboard_maya.parts.frames import current_frame
from callboard_maya.ports.cameras import rendered
from callboard_qt import PICTURES, FileRender

#: Maya's and Arnold's names for each format.
_FORMATS = {".png": (32, "png"), ".jpg": (8, "jpeg"), ".jpeg": (8, "jpeg")}
_SOFTWARE, _HARDWARE, _ARNOLD = "mayaSoftware", "mayaHardware2", "arnold"
_ARNOLD_FILES = "defaultArnoldDriver"
#: The value of the driver's ``colorManagement`` that applies the view's transform.
_VIEWED = 1
#: The plug-in's command is in none of the published stubs.
_ARNOLD_COMMAND = "arnoldRender"


class MayaRender(FileRender[str]):
    """Implements the port. ``rendering`` is entered while Maya is rendering."""

    def __init__(self, rendering: Callable[[], AbstractContextManager[None]]) -> None:
        self._rendering = rendering

    def camera(self) -> str:
        """Return the renderable camera."""
        path = rendered()
        if path is None:
            raise HostError(
                "no camera in the scene is renderable; render a turntable, which makes its own"
                " camera"
            )
        return path

    def camera_path(self, camera: str) -> str:
        return camera

    def camera_at(self, view: View, aspect: float) -> AbstractContextManager[str]:
        return _camera_at(view, aspect)

    def boxes(self) -> Iterator[tuple[list[float], list[float]]]:
        """Yield the boxes of every visible surface."""
        surfaces = cmds.ls(type="surfaceShape", visible=True, noIntermediate=True, long=True) or []
        for shape in surfaces:
            box = [float(value) for value in cmds.exactWorldBoundingBox(shape)]
            # The box of an empty shape is inside out.
            if box[0] <= box[3]:
                yield box[:3], box[3:]

    def has_light(self) -> bool:
        # Lights that come with renderers count, too.
        return any(cmds.ls(type=kind) for kind in cmds.listNodeTypes("light") or ())

    def up_axis(self) -> str:
        return str(cmds.upAxis(query=True, axis=True)).upper()

    def current_frame(self) -> float:
        return current_frame()

    @contextmanager
    def unnoticed(self) -> Iterator[None]:
        with unnoticed(), self._rendering():
            yield

    def telling(self, what: str) -> AbstractContextManager[None]:
        return telling(what)

    def draw(
        self, file: Path, width: int, height: int, camera: str, frame: float
    ) -> tuple[Path, str]:
        engine, folder = _engine(), file.parent
        with (
            at_frame(frame),
            _settings(_wanted(engine, file, width, height)),
            _images_in(str(folder)),
        ):
            _render(engine, camera, width, height)
        # Each renderer has its own rules for names and folders, so any picture in the folder is the
        # right one.
        pictures = [each for each in folder.rglob("*") if each.suffix.lower() in PICTURES]
        if not pictures:
            raise HostError("Maya rendered no picture; see its Script Editor for a possible reason")
        return min(pictures, key=lambda each: len(str(each))), engine


def _wanted(engine: str, file: Path, width: int, height: int) -> list[tuple[str, Any]]:
    """Return the render settings for one picture."""
    format, arnold_format = _FORMATS[file.suffix]
    wanted: list[tuple[str, Any]] = [
        ("defaultRenderGlobals.animation", False),
        ("defaultRenderGlobals.imageFilePrefix", file.stem),
        ("defaultRenderGlobals.imageFormat", format),
        ("defaultResolution.width", width),
        ("defaultResolution.height", height),
        ("defaultResolution.pixelAspect", 1.0),
        ("defaultResolution.deviceAspectRatio", width / height),
    ]
    if engine == _ARNOLD:
        wanted += [
            (f"{_ARNOLD_FILES}.aiTranslator", arnold_format),
            (f"{_ARNOLD_FILES}.prefix", ""),
            # Without this setting, the driver may write raw light, which an 8-bit picture can't
            # store.
            (f"{_ARNOLD_FILES}.colorManagement", _VIEWED),
        ]
    else:
        # Without this setting, an 8-bit picture is too dark.
        wanted.append(("defaultColorMgtGlobals.outputTransformEnabled", True))
    return wanted


def _engine() -> str:
    asked = str(cmds.getAttr("defaultRenderGlobals.currentRenderer"))
    # Arnold's settings are added to a scene when Arnold is first set up in it.
    if asked == _ARNOLD and cmds.objExists(_ARNOLD_FILES) and hasattr(cmds, _ARNOLD_COMMAND):
        return asked
    if asked in (_SOFTWARE, _HARDWARE):
        return asked
    return _SOFTWARE if cmds.about(batch=True) else _HARDWARE


def _render(engine: str, camera: str, width: int, height: int) -> None:
    # A renderer that doesn't recognize a camera by its full path would use a different one.
    camera = str(cmds.ls(camera)[0])
    if engine == _SOFTWARE:
        cmds.render(camera, xresolution=width, yresolution=height)
    elif engine == _HARDWARE:
        cmds.ogsRender(
            camera=camera, width=width, height=height, currentFrame=True, noRenderView=True
        )
    else:
        # Without ``batch``, Maya with a GUI draws into Arnold's own window and writes no file.
        command: Any = getattr(cmds, _ARNOLD_COMMAND)
        command(camera=camera, width=width, height=height, batch=True)


@contextmanager
def _settings(wanted: list[tuple[str, Any]]) -> Iterator[None]:
    """Apply settings, and restore the scene's own afterwards."""
    before: list[tuple[str, Any]] = []
    try:
        for plug, value in wanted:
            old = cmds.getAttr(plug)
            # An option that has never been set is None.
            old = old or "" if isinstance(value, str) else old
            if old != value:
                _set(plug, value)
                before.append((plug, old))
        yield
    finally:
        for plug, value in reversed(before):
            _set(plug, value)


def _set(plug: str, value: Any) -> None:
    if isinstance(value, str):
        cmds.setAttr(plug, value, type="string")
    else:
        cmds.setAttr(plug, value)


@contextmanager
def _images_in(folder: str) -> Iterator[None]:
    """Have Maya write pictures below that folder instead of the project's."""
    before = str(cmds.workspace(fileRuleEntry="images") or "")
    cmds.workspace(fileRule=("images", Path(folder).as_posix()))
    try:
        yield
    finally:
        cmds.workspace(fileRule=("images", before))


@contextmanager
def at_frame(number: float) -> Iterator[None]:
    """Show the scene at that frame inside the block."""
    before = current_frame()
    try:
        if number != before:
            cmds.currentTime(number)
        yield
    finally:
        if number != before:
            cmds.currentTime(before)


@contextmanager
def _camera_at(view: View, aspect: float) -> Iterator[str]:
    """Yield a temporary camera, by the path of its transform."""
    path = full_path(cmds.createNode("transform", name="callboardTurntable", skipSelect=True))
    try:
        shape = full_path(cmds.createNode("camera", parent=path, skipSelect=True))
        focal_length = 35.0
        inches = 2 * view.wide * focal_length / 25.4
        for attribute, value in (
            ("focalLength", focal_length),
            ("horizontalFilmAperture", inches),
            ("verticalFilmAperture", inches / aspect),
            ("nearClipPlane", view.near),
            ("farClipPlane", view.far),
        ):
            cmds.setAttr(f"{shape}.{attribute}", value)
        translate, rotate, _ = decompose(view.rows)
        transforms.write(path, translate, rotate, None)
        yield path
    finally:
        cmds.delete(path)
