"""Renders one picture and leaves the scene as it was.

With a GUI, the scene's own engine and settings are used. In background mode, a scene set to
EEVEE or Workbench, which need a graphics card, is rendered by Cycles on the processor with few
samples.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import atan
from pathlib import Path
from typing import Any

import addon_utils
import bpy
from mathutils import Color, Matrix

from callboard.errors import HostError
from callboard.host import Json, View, checked_suffix, replacing
from callboard_blender.application.names import forget, scene, view_layer

#: An object, an attribute of it, and the attribute's value for one picture.
Setting = tuple[Any, str, Any]

_FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}
_SAMPLES = 16


def made_by() -> Json:
    """Return the scene's engine and its samples per pixel."""
    shown = scene()
    engine = shown.render.engine
    owner, key = _samples_of(shown)
    return {"engine": engine, **({} if owner is None else {"samples": getattr(owner, key)})}


def why_engine() -> Json:
    """Return why a picture isn't made by the scene's own engine. Call this before ``settings``."""
    engine = scene().render.engine
    if not _replaced(engine):
        return {}
    return {"why_engine": f"without a window, Cycles stands in for the scene's {engine}"}


def _replaced(engine: str) -> bool:
    return bool(bpy.app.background) and engine != "CYCLES"


def _samples_of(shown: bpy.types.Scene) -> tuple[Any, str]:
    """Return the owner and the name of the property with the engine's samples per pixel. The owner
    is None if the engine has no such property."""
    if shown.render.engine == "CYCLES":
        return shown.cycles, "samples"
    return (shown.eevee if "EEVEE" in shown.render.engine else None), "taa_render_samples"


def render_to(path: str) -> None:
    with replacing(path) as written:
        scene().render.filepath = written
        try:
            bpy.ops.render.render(write_still=True)
        except RuntimeError as error:
            raise HostError(f"Blender could not render '{Path(path).name}': {error}") from None


@contextmanager
def settings(
    path: str, width: int, height: int, more: Sequence[Setting] = (), samples: int | None = None
) -> Iterator[None]:
    """Apply the render settings for one image, and the settings in ``more``. Restore the scene's
    own settings afterwards. ``samples`` limits the samples per pixel."""
    shown = scene()
    render = shown.render
    wanted: list[Setting] = [
        (render, "resolution_x", width),
        (render, "resolution_y", height),
        (render, "resolution_percentage", 100),
        (render, "use_border", False),
        (render, "use_file_extension", False),
        (render, "filepath", render.filepath),
        # Render the scene rather than its sequence editor, and render a single view.
        (render, "use_sequencer", False),
        (render, "use_multiview", False),
        *kept_as(path, shown),
    ]
    if _replaced(render.engine):
        if not hasattr(shown, "cycles"):
            addon_utils.enable("cycles")
        wanted += [
            (render, "engine", "CYCLES"),
            (shown.cycles, "device", "CPU"),
            (shown.cycles, "samples", min(samples or _SAMPLES, _SAMPLES)),
            (shown.cycles, "use_denoising", False),
        ]
    elif samples is not None:
        owner, key = _samples_of(shown)
        wanted += [(owner, key, min(samples, getattr(owner, key)))] if owner is not None else []
        if render.engine == "CYCLES":  # Some builds have no denoiser.
            wanted.append((shown.cycles, "use_denoising", False))
    wanted += more
    with put_back(wanted):
        yield


def kept_as(path: str, shown: bpy.types.Scene) -> list[Setting]:
    """Return the settings for writing a picture of ``shown`` to ``path``. Raises HostError."""
    kind = _FORMATS[checked_suffix(path, _FORMATS)]
    if bpy.app.version >= (5, 0) and re.search("[{}]", path):
        raise HostError(f"'{path}' contains braces, which Blender would replace; use another path")
    image = shown.render.image_settings
    space = getattr(image, "linear_colorspace_settings", None)
    # Blender chooses another color space when the format changes. An empty one can't be restored.
    kept = space.name if space is not None and image.file_format != kind else ""
    return [
        # Each setting limits the choices for the next ones, even when they are restored.
        *([(image, "media_type", "IMAGE")] if hasattr(image, "media_type") else []),
        (image, "file_format", kind),
        (image, "color_mode", "RGB"),
        (image, "color_depth", "8"),
        *([(space, "name", kept)] if kept else []),
    ]


@contextmanager
def put_back(wanted: Sequence[Setting]) -> Iterator[None]:
    """Apply each setting, and restore all of them afterwards. A setting that already has its value
    isn't set, because setting a file format also sets a color space."""
    before = [(owner, key, _kept(getattr(owner, key))) for owner, key, _ in wanted]
    try:
        _set(wanted)
        yield
    finally:
        _set(before)


def _set(settings: Sequence[Setting]) -> None:
    for owner, key, value in settings:
        if _kept(getattr(owner, key)) != value:
            setattr(owner, key, value)


def _kept(value: Any) -> Any:
    # A color object follows later changes, so copy it.
    return tuple(value) if isinstance(value, Color) else value


@contextmanager
def seen_by(camera: bpy.types.Object) -> Iterator[None]:
    """Use a different camera for the scene."""
    shown = scene()
    before = shown.camera
    # A marker with a camera changes the scene's camera at the marker's frame.
    bound = [(marker, marker.camera) for marker in shown.timeline_markers if marker.camera]
    try:
        shown.camera = camera
        for marker, _ in bound:
            marker.camera = None
        yield
    finally:
        for marker, bound_camera in bound:
            marker.camera = bound_camera
        shown.camera = before


@contextmanager
def camera_at(view: View) -> Iterator[None]:
    """Use a temporary camera at this view."""
    shown = scene()
    data = bpy.data.cameras.new("callboard turntable")
    data.sensor_fit = "HORIZONTAL"
    data.angle = 2 * atan(view.wide)
    data.clip_start, data.clip_end = view.near, view.far
    camera = bpy.data.objects.new("callboard turntable", data)
    try:
        shown.collection.objects.link(camera)
        axes = [(*row, 0.0) for row in view.rows[:3]]
        camera.matrix_world = Matrix([*axes, (*view.rows[3], 1.0)]).transposed()
        with seen_by(camera):
            view_layer().update()
            yield
    finally:
        bpy.data.batch_remove([camera, data])
        forget()
