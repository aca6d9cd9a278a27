"""Rendering to files: the port ``render``.

A render node of our own in ``/out``, which goes again after each picture: Mantra, which needs no
graphics card, else OpenGL. The answer names the renderer and the camera.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import hou

from callboard.errors import HostError
from callboard.host import Json
from callboard.hosting.orbit import View, around, numbered, orbiting
from callboard.hosting.replacing import replacing_bytes
from callboard.hosting.suffixes import checked_suffix
from callboard_houdini.names import objects, root, telling, type_of
from callboard_houdini.parms import parm, parm_tuple
from callboard_houdini.scene import up_axis
from callboard_houdini.shapes import geometry

_FORMATS = (".png", ".jpg", ".jpeg")
#: The type of each renderer's node, what is set there, and the parameters of picture and size.
_RENDERERS: tuple[tuple[str, dict[str, float | str], str, str], ...] = (
    (
        "ifd",
        # Otherwise Mantra goes on by itself, and the picture comes later.
        {"override_camerares": 1, "res_fraction": "specific", "soho_foreground": 1},
        "vm_picture",
        "res_override",
    ),
    ("opengl", {"tres": 1}, "picture", "res"),
)
_NAME = "callboard_render"


class HoudiniRender:
    """``rendering`` is entered while Houdini renders."""

    def __init__(self, rendering: Callable[[], AbstractContextManager[None]]) -> None:
        self._rendering = rendering

    def still(self, path: str, width: int, height: int, frame: int | None) -> Json:
        camera = _camera()
        started = perf_counter()
        at = round(hou.frame()) if frame is None else frame
        with self._rendering(), _unnoticed():
            engine = _render(path, width, height, camera, at)
        return {
            "path": path,
            "width": width,
            "height": height,
            "frame": at,
            "seconds": perf_counter() - started,
            "engine": engine,
            "camera": camera.path(),
        }

    def turntable(self, pattern: str, width: int, height: int, frames: int) -> Iterator[Json]:
        low, high = around(_boxes())
        for index in range(frames):
            path = numbered(pattern, index + 1)
            view = orbiting(low, high, index / frames, width / height, up_axis())
            # Everything is put back after each frame: between two slices the scene is the artist's.
            with self._rendering(), _unnoticed(), _camera_at(view) as camera:
                _render(path, width, height, camera, hou.frame())
            yield {"path": path, "frame": index + 1}


def _camera() -> hou.ObjNode:
    """The camera that a 3D view looks through, else the first one."""
    for tab in hou.ui.paneTabs() if hou.isUIAvailable() else ():
        if isinstance(tab, hou.SceneViewer) and tab.isCurrentTab():
            seen_by = tab.curViewport().camera()
            if seen_by is not None and type_of(seen_by) == "cam":
                return seen_by
    for node in objects():
        if type_of(node) == "cam":
            return node
    raise HostError("the scene has no camera; render a turntable, which brings its own")


def _boxes() -> Iterator[tuple[list[float], list[float]]]:
    for node in objects():
        shape = geometry(node) if node.isObjectDisplayed() else None
        if shape is not None:
            box = shape.boundingBox(node.worldTransform())
            yield list(box.minvec()), list(box.maxvec())


def _render(path: str, width: int, height: int, camera: hou.ObjNode, frame: float) -> str:
    """The renderer's name."""
    suffix = checked_suffix(path, _FORMATS)
    # Houdini would replace variables and run expressions in a path; there are none in this one.
    with (
        replacing_bytes(path) as image,
        TemporaryDirectory(prefix="callboard-") as folder,
        telling(f"render '{Path(path).name}'"),
    ):
        file = Path(folder, f"picture{suffix}")
        engine = _draw(file, width, height, camera, frame)
        if not file.is_file():
            raise HostError(f"Houdini's renderer '{engine}' wrote no picture")
        with file.open("rb") as source:
            shutil.copyfileobj(source, image)
    return engine


def _draw(file: Path, width: int, height: int, camera: hou.ObjNode, frame: float) -> str:
    network = hou.node("/out")
    known = hou.ropNodeTypeCategory().nodeTypes()
    for type, settings, picture, size in _RENDERERS:
        if network is None or type not in known:
            continue
        node = network.createNode(type, _NAME)
        try:
            assert isinstance(node, hou.RopNode)
            for name, value in settings.items():
                parm(node, name).set(value)
            parm_tuple(node, size).set((width, height))
            parm(node, "camera").set(camera.path())
            parm(node, picture).set(file.as_posix())
            node.render(frame_range=(frame, frame))
        finally:
            node.destroy()
        return type
    raise HostError("this Houdini has neither Mantra nor an OpenGL render node; use a script")


@contextmanager
def _unnoticed() -> Iterator[None]:
    """No undo step."""
    with hou.undos.disabler():
        yield


@contextmanager
def _camera_at(view: View) -> Iterator[hou.ObjNode]:
    """A camera of its own."""
    camera = root().createNode("cam", "callboard_turntable")
    try:
        assert isinstance(camera, hou.ObjNode)
        wide = parm(camera, "aperture").eval()
        assert isinstance(wide, float)
        parm(camera, "focal").set(wide / (2 * view.wide))
        parm(camera, "near").set(view.near)
        parm(camera, "far").set(view.far)
        axes = [value for row in view.rows[:3] for value in (*row, 0.0)]
        camera.setWorldTransform(hou.Matrix4([*axes, *view.rows[3], 1.0]))
        yield camera
    finally:
        camera.destroy()
