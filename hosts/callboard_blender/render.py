"""Rendering to files: the port ``render``.

Inside Blender the scene's own engine and settings render. In background mode a scene that asks for
EEVEE or Workbench, which need a graphics card, is rendered by Cycles on the processor, with few
samples; the answer names the engine.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import addon_utils
import bpy
from mathutils import Matrix, Vector

from callboard.errors import HostError
from callboard.host import Json
from callboard.hosting.replacing import replacing
from callboard_blender.changes import Changes
from callboard_blender.names import scene, view_layer
from callboard_blender.scene import bounds

_FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}
_SAMPLES = 16


class BlenderRender:
    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    def still(self, path: str, width: int, height: int, frame: int | None) -> Json:
        if scene().camera is None:
            raise HostError("the scene has no camera; render a turntable, which brings its own")
        with self._changes.unnoticed(), _settings(path, width, height), _frame(frame):
            started = perf_counter()
            _render(path)
            return {
                "path": path,
                "width": width,
                "height": height,
                "frame": scene().frame_current,
                "seconds": perf_counter() - started,
                "engine": scene().render.engine,
            }

    def turntable(self, pattern: str, width: int, height: int, frames: int) -> Iterator[Json]:
        view_layer().update()
        box = bounds([obj for obj in view_layer().objects if not obj.hide_render])
        if box is None:
            raise HostError("the scene holds nothing that can be rendered")
        low, high = Vector(box["min"]), Vector(box["max"])
        for index in range(frames):
            path = _numbered(pattern, index + 1)
            # Everything is put back after each frame: between two slices the scene is the artist's.
            with (
                self._changes.unnoticed(),
                _settings(path, width, height),
                _orbiting(low, high, index / frames),
            ):
                _render(path)
            yield {"path": path, "frame": index + 1}


def _render(path: str) -> None:
    with replacing(path) as written:
        scene().render.filepath = written
        try:
            bpy.ops.render.render(write_still=True)
        except RuntimeError as error:
            raise HostError(f"Blender could not render '{Path(path).name}': {error}") from None


def _numbered(pattern: str, number: int) -> str:
    file = Path(pattern)
    name = re.sub("#+", lambda run: str(number).zfill(len(run.group())), file.name)
    return str(file.with_name(name))


@contextmanager
def _settings(path: str, width: int, height: int) -> Iterator[None]:
    """The render settings for one image; the scene's own come back afterwards."""
    kind = _FORMATS.get(Path(path).suffix.lower())
    if kind is None:
        raise HostError(f"'{Path(path).name}' does not end in {', '.join(_FORMATS)}")
    if bpy.app.version >= (5, 0) and re.search("[{}]", path):
        raise HostError(f"'{path}' holds braces, which Blender would replace; use another path")
    shown = scene()
    render, image = shown.render, shown.render.image_settings
    wanted = [
        (render, "resolution_x", width),
        (render, "resolution_y", height),
        (render, "resolution_percentage", 100),
        (render, "use_border", False),
        (render, "use_file_extension", False),
        (render, "filepath", render.filepath),
        (image, "file_format", kind),
        (image, "color_mode", "RGB"),
    ]
    if bpy.app.background and render.engine != "CYCLES":
        if not hasattr(shown, "cycles"):
            addon_utils.enable("cycles")
        wanted += [
            (render, "engine", "CYCLES"),
            (shown.cycles, "device", "CPU"),
            (shown.cycles, "samples", _SAMPLES),
            (shown.cycles, "use_denoising", False),
        ]
    before = [(owner, key, getattr(owner, key)) for owner, key, _ in wanted]
    try:
        for owner, key, value in wanted:
            setattr(owner, key, value)
        yield
    finally:
        for owner, key, value in reversed(before):
            setattr(owner, key, value)


@contextmanager
def _frame(number: int | None) -> Iterator[None]:
    shown = scene()
    before = shown.frame_current
    try:
        if number is not None:
            shown.frame_set(number)
        yield
    finally:
        if number is not None:
            shown.frame_set(before)


@contextmanager
def _orbiting(low: Vector, high: Vector, turn: float) -> Iterator[None]:
    """A camera of its own that sees the whole box from ``turn``, 0 to 1, of the way around."""
    shown = scene()
    before = shown.camera
    data = bpy.data.cameras.new("callboard turntable")
    camera = bpy.data.objects.new("callboard turntable", data)
    try:
        shown.collection.objects.link(camera)
        camera.matrix_world = _view(low, high, turn, data)
        shown.camera = camera
        view_layer().update()
        yield
    finally:
        shown.camera = before
        bpy.data.batch_remove([camera, data])


def _view(low: Vector, high: Vector, turn: float, data: bpy.types.Camera) -> Matrix:
    centre, radius = (low + high) / 2, max((high - low).length / 2, 1e-6)
    angle = min(data.angle_x, data.angle_y) / 2
    distance = 1.1 * radius / math.sin(angle)
    data.clip_start, data.clip_end = distance / 1000, distance + 2 * radius
    around, up = math.tau * turn, math.radians(20)
    eye = Vector(
        (
            math.sin(around) * math.cos(up),
            -math.cos(around) * math.cos(up),
            math.sin(up),
        )
    )
    facing = (-eye).to_track_quat("-Z", "Y")
    return Matrix.LocRotScale(centre + distance * eye, facing, None)
