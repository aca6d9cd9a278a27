"""The ``render`` port: rendering to files.

Pictures are rendered by a temporary node in ``/out``, which is removed after each picture. The node
is a Mantra node, which doesn't need a graphics card, or, without Mantra, an OpenGL node. The answer
names the renderer and the camera.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import hou

from callboard.errors import HostError
from callboard.host import View, sixteen_of
from callboard_houdini.application.names import objects, root, telling
from callboard_houdini.application.units import up_axis
from callboard_houdini.parts.parms import parm, parm_tuple
from callboard_houdini.parts.shapes import geometry
from callboard_houdini.ports.cameras import taking_pictures
from callboard_qt import FileRender

#: Each renderer's type of node, its settings, and its parameters for the picture's file and size.
_RENDERERS: tuple[tuple[str, dict[str, float | str], str, str], ...] = (
    (
        "ifd",
        # Without this setting, Mantra runs in the background and writes the picture later.
        {"override_camerares": 1, "res_fraction": "specific", "soho_foreground": 1},
        "vm_picture",
        "res_override",
    ),
    ("opengl", {"tres": 1}, "picture", "res"),
)
_NAME = "callboard_render"
#: The height of a temporary camera's frame in pixels. Only its ratio to the width matters.
_HIGH = 1080


class HoudiniRender(FileRender[hou.ObjNode]):
    """The ``render`` port. ``rendering`` returns a context manager that is entered while Houdini
    renders."""

    def __init__(self, rendering: Callable[[], AbstractContextManager[None]]) -> None:
        self._rendering = rendering

    def camera(self) -> hou.ObjNode:
        camera = taking_pictures()
        if camera is None:
            raise HostError("the scene has no camera; render a turntable, which makes its own")
        return camera

    def camera_path(self, camera: hou.ObjNode) -> str:
        return str(camera.path())

    def camera_at(self, view: View, aspect: float) -> AbstractContextManager[hou.ObjNode]:
        return _camera_at(view, aspect)

    def boxes(self) -> Iterator[tuple[list[float], list[float]]]:
        for node in objects():
            shape = geometry(node) if node.isObjectDisplayed() else None
            if shape is not None:
                box = shape.boundingBox(node.worldTransform())
                yield list(box.minvec()), list(box.maxvec())

    def up_axis(self) -> str:
        return up_axis()

    def current_frame(self) -> float:
        return float(hou.frame())

    @contextmanager
    def unnoticed(self) -> Iterator[None]:
        with self._rendering(), hou.undos.disabler():
            yield

    def telling(self, what: str) -> AbstractContextManager[None]:
        return telling(what)

    def draw(
        self, file: Path, width: int, height: int, camera: hou.ObjNode, frame: float
    ) -> tuple[Path, str]:
        engine = _draw(file, width, height, camera, frame)
        if not file.is_file():
            raise HostError(f"Houdini's renderer '{engine}' wrote no picture")
        return file, engine


def _draw(file: Path, width: int, height: int, camera: hou.ObjNode, frame: float) -> str:
    network = hou.node("/out")
    known = hou.ropNodeTypeCategory().nodeTypes()
    for type, settings, picture, size in _RENDERERS:
        if network is None or type not in known:
            continue
        if type == "opengl" and not hou.isUIAvailable():
            # Without a GUI, an OpenGL node makes Houdini exit instead of reporting an error.
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
    raise HostError(
        "this Houdini has no Mantra, and an OpenGL render node needs a GUI; use a script"
    )


@contextmanager
def _camera_at(view: View, aspect: float) -> Iterator[hou.ObjNode]:
    """Yield a temporary camera whose frame is the picture."""
    camera = root().createNode("cam", "callboard_turntable")
    try:
        assert isinstance(camera, hou.ObjNode)
        wide = parm(camera, "aperture").eval()
        assert isinstance(wide, float)
        parm(camera, "focal").set(wide / (2 * view.wide))
        parm(camera, "near").set(view.near)
        parm(camera, "far").set(view.far)
        parm_tuple(camera, "res").set((round(_HIGH * aspect), _HIGH))
        camera.setWorldTransform(hou.Matrix4(sixteen_of(view.rows)))
        yield camera
    finally:
        camera.destroy()
