"""Rendering to files: the port ``render``.

Inside Blender the scene's own engine and settings render. In background mode a scene that asks for
EEVEE or Workbench, which need a graphics card, is rendered by Cycles on the processor, with few
samples; the answer names the engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import atan
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import addon_utils
import bpy
import imbuf  # type: ignore[import-not-found,unused-ignore]
from mathutils import Matrix

from callboard.errors import HostError
from callboard.host import Json
from callboard.hosting.orbit import View, numbered, orbiting
from callboard.hosting.replacing import replacing
from callboard.hosting.suffixes import checked_suffix
from callboard_blender.baking import frame_kept
from callboard_blender.changes import Changes
from callboard_blender.names import forget, scene, view_layer
from callboard_blender.outside import outputs_inside, refuse_used_outside
from callboard_blender.world import bounds

_FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}
_SAMPLES = 16


class BlenderRender:
    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    def still(self, path: str, width: int, height: int, frame: int | None) -> Json:
        camera = scene().camera
        if camera is None:
            raise HostError("the scene has no camera; render a turntable, which brings its own")
        refuse_used_outside("rendered")
        with (
            self._changes.unnoticed(),
            _settings(path, width, height),
            _at(frame),
            outputs_inside() as left_out,
        ):
            started = perf_counter()
            _render(path)
            return {
                "path": path,
                "width": width,
                "height": height,
                "frame": scene().frame_current,
                "seconds": perf_counter() - started,
                **_made_by(),
                "camera": camera.name_full,
                **({"left_out": left_out} if left_out else {}),
            }

    def turntable(self, pattern: str, width: int, height: int, frames: int) -> Iterator[Json]:
        view_layer().update()
        box = bounds([obj for obj in view_layer().objects if not obj.hide_render])
        if box is None:
            raise HostError("the scene holds nothing that can be rendered")
        refuse_used_outside("rendered")
        for index in range(frames):
            path = numbered(pattern, index + 1)
            view = orbiting(box["min"], box["max"], index / frames, width / height, "Z")
            # Everything is put back after each frame: between two slices the scene is the artist's.
            with (
                self._changes.unnoticed(),
                _settings(path, width, height),
                _camera_at(view),
                outputs_inside() as left_out,
            ):
                _render(path)
                made_by = _made_by()
            yield {
                "path": path,
                "frame": index + 1,
                **made_by,
                **({"left_out": left_out} if left_out else {}),
            }

    def small(self, path: str, longest: int) -> bytes:
        """As :meth:`callboard.hosting.looking.MakesSmall.small`."""
        with TemporaryDirectory(prefix="callboard-") as folder:
            file = str(Path(folder, f"small{Path(path).suffix}"))
            try:
                picture = imbuf.load(path)
                factor = min(1.0, longest / max(picture.size))
                if factor < 1:
                    wide, high = (max(1, round(side * factor)) for side in picture.size)
                    picture.resize((wide, high), method="BILINEAR")
                imbuf.write(picture, filepath=file)
                picture.free()
            except (OSError, RuntimeError) as error:
                raise HostError(f"Blender can't read '{Path(path).name}': {error}") from None
            return Path(file).read_bytes()


def _made_by() -> Json:
    """The engine that is set, and its samples a pixel."""
    shown = scene()
    engine = shown.render.engine
    told: Json = {"engine": engine}
    if engine == "CYCLES":
        told["samples"] = shown.cycles.samples
    elif "EEVEE" in engine:
        told["samples"] = shown.eevee.taa_render_samples
    return told


def _render(path: str) -> None:
    with replacing(path) as written:
        scene().render.filepath = written
        try:
            bpy.ops.render.render(write_still=True)
        except RuntimeError as error:
            raise HostError(f"Blender could not render '{Path(path).name}': {error}") from None


@contextmanager
def _settings(path: str, width: int, height: int) -> Iterator[None]:
    """The render settings for one image; the scene's own come back afterwards."""
    kind = _FORMATS[checked_suffix(path, _FORMATS)]
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
        # The scene, not the cut that the artist may be making of it, and one picture of it.
        (render, "use_sequencer", False),
        (render, "use_multiview", False),
        # Each decides what the next ones may be, also when they are put back.
        *([(image, "media_type", "IMAGE")] if hasattr(image, "media_type") else []),
        (image, "file_format", kind),
        (image, "color_mode", "RGB"),
        (image, "color_depth", "8"),
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
        for owner, key, value in before:
            setattr(owner, key, value)


def _at(frame: int | None) -> AbstractContextManager[None]:
    """Going to a frame, even the current one, undoes what isn't keyed: only where it is asked."""
    return frame_kept(frame) if frame is not None else nullcontext()


@contextmanager
def _camera_at(view: View) -> Iterator[None]:
    """A camera of its own."""
    shown = scene()
    before = shown.camera
    # A marker's camera takes over at its frame.
    bound = [(marker, marker.camera) for marker in shown.timeline_markers if marker.camera]
    data = bpy.data.cameras.new("callboard turntable")
    data.sensor_fit = "HORIZONTAL"
    data.angle = 2 * atan(view.wide)
    data.clip_start, data.clip_end = view.near, view.far
    camera = bpy.data.objects.new("callboard turntable", data)
    try:
        shown.collection.objects.link(camera)
        axes = [(*row, 0.0) for row in view.rows[:3]]
        camera.matrix_world = Matrix([*axes, (*view.rows[3], 1.0)]).transposed()
        shown.camera = camera
        for marker, _ in bound:
            marker.camera = None
        view_layer().update()
        yield
    finally:
        for marker, bound_camera in bound:
            marker.camera = bound_camera
        shown.camera = before
        bpy.data.batch_remove([camera, data])
        forget()
