"""Finds the artist's 3D view, and computes the view and projection matrices of views."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import bpy
from mathutils import Matrix

from callboard_blender.application.names import scene


@dataclass(frozen=True)
class View:
    """A 3D view, valid within one step only. ``window`` is None when the view is in a hidden
    workspace."""

    window: bpy.types.Window | None
    area: bpy.types.Area
    region: bpy.types.Region
    space: bpy.types.SpaceView3D

    @property
    def size(self) -> int:
        return int(self.region.width * self.region.height)


def find_view() -> View | None:
    """Return the largest 3D view that is shown, or else one in a hidden workspace."""
    windows = bpy.context.window_manager.windows
    shown = [view for window in windows for view in _views(window, window.screen)]
    if shown:
        return max(shown, key=lambda view: view.size)
    hidden = [view for screen in bpy.data.screens for view in _views(None, screen)]
    return max(hidden, key=lambda view: view.size, default=None)


def _views(window: bpy.types.Window | None, screen: bpy.types.Screen) -> Iterator[View]:
    for area in screen.areas:
        if area.type == "VIEW_3D":
            for region in area.regions:
                if region.type == "WINDOW":
                    yield View(window, area, region, area.spaces.active)
                    break


def in_a_window() -> AbstractContextManager[Any]:
    """Put a window into Blender's context. After a file has been opened, the context has no window
    until the next tick, and many operators, such as undo, refuse to run without a window. Without a
    user interface there is never a window."""
    windows = bpy.context.window_manager.windows
    if bpy.context.window is not None or not windows:
        return nullcontext()
    override: AbstractContextManager[Any] = bpy.context.temp_override(window=windows[0])
    return override


def as_the_artist(view: View, width: int, height: int) -> tuple[Matrix, Matrix]:
    """Return the view and projection matrices of the artist's view for a picture of the given size.
    The picture contains at least everything that the view shows, undistorted."""
    shown = view.space.region_3d
    camera = view.space.camera if view.space.use_local_camera else scene().camera
    if shown.view_perspective == "CAMERA" and camera is not None and camera.type == "CAMERA":
        return through(camera, width, height)
    projection = shown.window_matrix.copy()
    wanted = width / height
    if wanted >= view.region.width / max(view.region.height, 1):
        projection[0][0] = projection[1][1] / wanted
    else:
        projection[1][1] = projection[0][0] * wanted
    return shown.view_matrix.copy(), projection


def through(camera: bpy.types.Object, width: int, height: int) -> tuple[Matrix, Matrix]:
    graph = bpy.context.evaluated_depsgraph_get()
    projection = camera.calc_matrix_camera(graph, x=width, y=height)
    return camera.matrix_world.normalized().inverted(), projection
