"""Rendering to files: the port ``render``. The scene's own renderer renders, with its settings;
the answer names it and the camera."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import atan, degrees
from pathlib import Path
from time import perf_counter

import pymxs
from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Json
from callboard.hosting.orbit import View, around, numbered, orbiting
from callboard.hosting.replacing import replacing
from callboard.hosting.suffixes import checked_suffix
from callboard_max.matrices import matrix_of
from callboard_max.names import Node, objects, path_of, telling
from callboard_max.shapes import is_geometry, kind_of
from callboard_max.timing import current_frame

_FORMATS = (".png", ".jpg", ".jpeg")


class MaxRender:
    def still(self, path: str, width: int, height: int, frame: int | None) -> Json:
        camera = _camera()
        started = perf_counter()
        at = round(current_frame()) if frame is None else frame
        with _unnoticed():
            _render(path, width, height, camera, at)
        return {
            "path": path,
            "width": width,
            "height": height,
            "frame": at,
            "seconds": perf_counter() - started,
            "engine": str(rt.classOf(rt.renderers.current)),
            "camera": path_of(camera),
        }

    def turntable(self, pattern: str, width: int, height: int, frames: int) -> Iterator[Json]:
        low, high = around(_boxes())
        for index in range(frames):
            path = numbered(pattern, index + 1)
            view = orbiting(low, high, index / frames, width / height, "Z")
            # Everything is put back after each frame: between two slices the scene is the artist's.
            with _unnoticed(), _camera_at(view) as camera:
                _render(path, width, height, camera, current_frame())
            yield {"path": path, "frame": index + 1}


def _camera() -> Node:
    """The camera that the active view looks through, else the first one."""
    if not rt.maxOps.isInNonInteractiveMode():
        seen_by = rt.viewport.getCamera()
        if seen_by is not None:
            return seen_by
    for node in objects():
        if str(rt.superClassOf(node)).lower() == "camera":
            return node
    raise HostError("the scene has no camera; render a turntable, which brings its own")


def _boxes() -> Iterator[tuple[list[float], list[float]]]:
    for node in objects():
        # 3ds Max counts a camera's target among the surfaces.
        if is_geometry(node) and kind_of(node) != "targetobject" and not node.isHiddenInVpt:
            low, high = node.min, node.max
            yield [low.x, low.y, low.z], [high.x, high.y, high.z]


def _render(path: str, width: int, height: int, camera: Node, frame: float) -> None:
    checked_suffix(path, _FORMATS)
    with replacing(path) as written, telling(f"render '{Path(path).name}'"):
        picture = rt.render(
            camera=camera,
            frame=frame,
            outputwidth=width,
            outputheight=height,
            outputfile=written,
            vfb=False,
            quiet=True,
        )
        if picture is not None:
            rt.close(picture)
        if not Path(written).is_file():
            raise HostError("3ds Max rendered no picture; was it cancelled there?")


@contextmanager
def _unnoticed() -> Iterator[None]:
    """Neither an undo step, nor anything to save."""
    modified = bool(rt.getSaveRequired())
    try:
        with pymxs.undo(False):
            yield
    finally:
        if not modified:
            rt.setSaveRequired(False)


@contextmanager
def _camera_at(view: View) -> Iterator[Node]:
    """A camera of its own."""
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
