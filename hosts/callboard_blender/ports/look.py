"""The ``look`` port: pictures of the scene for an agent. The artist's view draws them if there is
one. ``rendered`` pictures, and all pictures when Blender has no window, are quick renders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import bpy
from mathutils import Matrix

from callboard.errors import HostError
from callboard.host import Json, Look, Picture, Point, View, decode
from callboard_blender.application.changes import SceneChanges
from callboard_blender.application.names import find, scene, view_layer
from callboard_blender.application.outside_paths import refuse_used_outside
from callboard_blender.application.views import View as Shown
from callboard_blender.application.views import as_the_artist, find_view, through
from callboard_blender.parts.bake import frame_kept
from callboard_blender.parts.pick import first_hit
from callboard_blender.parts.preview import previewed
from callboard_blender.parts.render_picture import (
    Setting,
    camera_at,
    made_by,
    put_back,
    render_to,
    seen_by,
    settings,
)
from callboard_blender.parts.world import bounds

_SAMPLES = 8
_TYPES = {"solid": "SOLID", "xray": "SOLID", "wireframe": "WIREFRAME", "material": "MATERIAL"}


class BlenderLook:
    def __init__(self, changes: SceneChanges) -> None:
        self._changes = changes

    def picture(self, asked: Look) -> tuple[Picture, Json]:
        with self._changes.unnoticed():
            try:
                with _at(asked.frame):
                    view_layer().update()
                    return _rendered(asked) if _renders(asked) else (_drawn(asked), {})
            finally:
                # This makes Blender report the restored settings here instead of during the next
                # call.
                view_layer().update()

    def under(self, asked: Look, x: float, y: float) -> tuple[str, Point] | None:
        """Return the object under a point, as :meth:`callboard.ports.look.Picks.under` does."""
        with self._changes.unnoticed(), _at(asked.frame):
            view_layer().update()
            renders = _renders(asked)
            view = None if renders and (bpy.app.background or scene().camera) else find_view()
            return first_hit(*_matrices(asked, view), x, y, renders)

    def own_view(self) -> bool:
        return scene().camera is not None or not bpy.app.background

    def boxes(self) -> Iterable[tuple[Point, Point]]:
        view_layer().update()
        box = bounds([obj for obj in view_layer().objects if obj.visible_get()])
        return [] if box is None else [(box["min"], box["max"])]


def _renders(asked: Look) -> bool:
    return bpy.app.background or asked.shading == "rendered"


def _at(frame: float | None) -> AbstractContextManager[None]:
    return frame_kept(frame) if frame is not None else nullcontext()


def _camera(name: str) -> bpy.types.Object:
    camera = find(name)
    if camera.type != "CAMERA":
        raise HostError(f"'{camera.name}' is not a camera")
    return camera


def _rendered(asked: Look) -> tuple[Picture, Json]:
    refuse_used_outside("rendered")
    shading = asked.shading or "material"
    with TemporaryDirectory(prefix="callboard-") as folder, ExitStack() as stack:
        path = str(Path(folder, "look.png"))
        if asked.camera is not None:
            stack.enter_context(seen_by(_camera(asked.camera)))
        elif asked.view is not None:
            stack.enter_context(camera_at(asked.view))
        elif scene().camera is None:
            stack.enter_context(_as_the_artist())
        # Compositing must not write any of its outputs.
        quick: list[Setting] = [(scene().render, "use_compositing", False)]
        if shading != "rendered":
            quick += stack.enter_context(previewed(shading))
        stack.enter_context(settings(path, asked.width, asked.height, quick, _SAMPLES))
        render_to(path)
        return decode(Path(path).read_bytes()), {**made_by(), **_doubt(shading)}


def _doubt(shading: str) -> Json:
    if shading != "rendered" or any(obj.type == "LIGHT" for obj in view_layer().objects):
        return {}
    return {} if scene().world is not None else {"doubt": "the scene has neither light nor world"}


@contextmanager
def _as_the_artist() -> Iterator[None]:
    view = find_view()
    if view is None or bpy.app.background:
        raise HostError("there is no view and no camera; give camera or angles")
    shown, width = view.space.region_3d, 1 / view.space.region_3d.window_matrix[0][0]
    placed = shown.view_matrix.inverted()
    rows = [[placed[row][column] for row in range(3)] for column in range(4)]
    if shown.view_perspective == "ORTHO":
        raise HostError("the artist's view is orthographic; give camera or angles to render it")
    with camera_at(View(rows, width, view.space.clip_start, view.space.clip_end)):
        yield


def _drawn(asked: Look) -> Picture:
    # This module needs a graphics context.
    from callboard_blender.ports.viewport import drawn, view_there

    view = view_there()
    with put_back(_shaded(view, asked)):
        return drawn(view, asked.width, asked.height, *_matrices(asked, view))


def _shaded(view: Shown, asked: Look) -> list[Setting]:
    shading, overlay = view.space.shading, view.space.overlay
    wanted: list[Setting] = [(overlay, "show_overlays", asked.overlays)]
    if asked.shading is not None:
        wanted.append((shading, "type", _TYPES[asked.shading]))
        if asked.shading != "material":
            name = "show_xray_wireframe" if asked.shading == "wireframe" else "show_xray"
            wanted.append((shading, name, asked.shading != "solid"))
            # The background is even, so that empty areas can be recognized.
            wanted += [(shading, "background_type", "VIEWPORT")]
            wanted += [(shading, "background_color", (0.05, 0.05, 0.05))]
    return wanted


def _matrices(asked: Look, view: Shown | None) -> tuple[Matrix, Matrix]:
    """Return the picture's view and projection matrices, or those of the scene's camera if there is
    no view."""
    size = asked.width, asked.height
    if asked.camera is not None:
        return through(_camera(asked.camera), *size)
    if asked.view is not None:
        return _placed(asked.view, asked.width / asked.height)
    if view is not None:
        return as_the_artist(view, *size)
    if scene().camera is None:
        raise HostError("the scene has no camera; give camera or angles")
    return through(scene().camera, *size)


def _placed(view: View, aspect: float) -> tuple[Matrix, Matrix]:
    axes = [(*row, 0.0) for row in view.rows[:3]]
    placed = Matrix([*axes, (*view.rows[3], 1.0)]).transposed()
    near, far = view.near, view.far
    projection = Matrix(
        (
            (1 / view.wide, 0, 0, 0),
            (0, aspect / view.wide, 0, 0),
            (0, 0, -(far + near) / (far - near), -2 * far * near / (far - near)),
            (0, 0, -1, 0),
        )
    )
    return placed.inverted(), projection
