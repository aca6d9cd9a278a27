"""The ``render`` port: rendering to files. The scene's own renderer is used, with its settings. The
answer names the renderer and the camera."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from math import atan, degrees
from pathlib import Path

import pymxs
from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import View
from callboard_max.application.names import Node, objects, path_of, telling
from callboard_max.parts.frames import current_frame
from callboard_max.parts.matrices import matrix_of
from callboard_max.parts.shapes import is_geometry, kind_of
from callboard_max.ports.cameras import taking_pictures
from callboard_qt import FileRender


class MaxRender(FileRender[Node]):
    def camera(self) -> Node:
        node = taking_pictures()
        if node is not None:
            return node
        raise HostError("the scene has no camera; render a turntable, which makes its own")

    def camera_path(self, camera: Node) -> str:
        return path_of(camera)

    def camera_at(self, view: View, aspect: float) -> AbstractContextManager[Node]:
        return _camera_at(view)

    def boxes(self) -> Iterator[tuple[list[float], list[float]]]:
        for node in objects():
            # 3ds Max counts a camera's target among the surfaces.
            if is_geometry(node) and kind_of(node) != "targetobject" and not node.isHiddenInVpt:
                low, high = node.min, node.max
                yield [low.x, low.y, low.z], [high.x, high.y, high.z]

    def has_light(self) -> bool:
        return any(str(rt.superClassOf(node)) == "light" for node in objects())

    def up_axis(self) -> str:
        return "Z"

    def current_frame(self) -> float:
        return current_frame()

    @contextmanager
    def unnoticed(self) -> Iterator[None]:
        modified = bool(rt.getSaveRequired())
        try:
            with pymxs.undo(False):
                yield
        finally:
            if not modified:
                rt.setSaveRequired(False)

    def telling(self, what: str) -> AbstractContextManager[None]:
        return telling(what)

    def draw(
        self, file: Path, width: int, height: int, camera: Node, frame: float
    ) -> tuple[Path, str]:
        picture = rt.render(
            camera=camera,
            frame=frame,
            outputwidth=width,
            outputheight=height,
            outputfile=str(file),
            vfb=False,
            quiet=True,
        )
        if picture is not None:
            rt.close(picture)
        if not file.is_file():
            raise HostError("3ds Max rendered no picture; the artist may have cancelled it")
        return file, str(rt.classOf(rt.renderers.current))


@contextmanager
def _camera_at(view: View) -> Iterator[Node]:
    """Yield a temporary camera."""
    camera = rt.Freecamera(
        name="callboard turntable",
        fov=2 * degrees(atan(view.wide)),
        clipManually=True,
        nearclip=view.near,
        farclip=view.far,
    )
    try:
        camera.transform = matrix_of(view.rows)
        yield camera
    finally:
        rt.delete(camera)
