"""The ``look`` port: pictures of the scene for an agent. The artist's view or Houdini's renderer
draws them. Only Houdini with a GUI has this port."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import hou

from callboard.host import Json, Look, Picture, Point, View, decode
from callboard_houdini.application.names import telling
from callboard_houdini.parts.pick import artists_view, first_hit
from callboard_houdini.ports.cameras import camera_named, view_of
from callboard_houdini.ports.render import HoudiniRender
from callboard_houdini.ports.viewport import drawn, view
from callboard_qt import seen_or_rendered, through

#: The view's style for each kind of shading, and True if that style shows materials.
_SHADINGS = {
    "solid": ("Smooth", False),
    "wireframe": ("Wire", False),
    "xray": ("WireGhost", False),
    "material": ("Smooth", True),
}
#: Sets of objects with their own drawing style.
_SETS = ("SceneObject", "SelectedObject", "GhostObject", "DisplayModel")


class HoudiniLook:
    def __init__(self, render: HoudiniRender) -> None:
        self._render = render

    def picture(self, asked: Look) -> tuple[Picture, Json]:
        viewer = view()
        with self._render.unnoticed(), ExitStack() as stack:
            if asked.frame is not None:
                stack.enter_context(_at_frame(asked.frame))
            viewport = viewer.curViewport()
            camera = stack.enter_context(self._camera(asked))
            if asked.shading == "rendered":
                return self._rendered(asked, camera or self._render.camera())
            with telling("draw the view"), _through(viewport, camera), _shaded(viewport, asked):
                size = asked.width, asked.height
                picture = decode(drawn(viewer, *size, beauty_only=not asked.overlays))
            return seen_or_rendered(
                picture,
                self.boxes(),
                lambda: self._rendered(asked, camera or self._render.camera()),
            )

    def under(self, asked: Look, x: float, y: float) -> tuple[str, Point] | None:
        """Return the object under a point, as :meth:`callboard.ports.look.Picks.under` does."""
        with self._render.unnoticed(), ExitStack() as stack, telling("look at the scene"):
            if asked.frame is not None:
                stack.enter_context(_at_frame(asked.frame))
            aspect = asked.width / asked.height
            return first_hit(through(self._seen(asked, aspect), aspect, x, y))

    def own_view(self) -> bool:
        return True

    def boxes(self) -> Iterable[tuple[Point, Point]]:
        return self._render.boxes()

    def _seen(self, asked: Look, aspect: float) -> View:
        if asked.view is not None:
            return asked.view
        rendered = asked.shading == "rendered"
        if asked.camera is not None:
            camera: hou.ObjNode | None = camera_named(asked.camera)
        else:
            viewport = view().curViewport()
            camera = self._render.camera() if rendered else viewport.camera()
            if camera is None:
                return artists_view(viewport)
        assert camera is not None
        return view_of(camera, aspect, rendered)

    @contextmanager
    def _camera(self, asked: Look) -> Iterator[hou.ObjNode | None]:
        """Yield the camera, or None for the artist's own view."""
        if asked.camera is not None:
            yield camera_named(asked.camera)
        elif asked.view is not None:
            with self._render.camera_at(asked.view, asked.width / asked.height) as camera:
                yield camera
        else:
            yield None

    def _rendered(self, asked: Look, camera: hou.ObjNode) -> tuple[Picture, Json]:
        with TemporaryDirectory(prefix="callboard-") as folder, telling("render a picture"):
            file = Path(folder, "look.png")
            size = asked.width, asked.height
            made, engine = self._render.draw(file, *size, camera, float(hou.frame()))
            return decode(made.read_bytes()), self._render.made_by(engine)


@contextmanager
def _at_frame(number: float) -> Iterator[None]:
    before = hou.frame()
    try:
        hou.setFrame(number)
        yield
    finally:
        hou.setFrame(before)


@contextmanager
def _through(viewport: hou.GeometryViewport, camera: hou.ObjNode | None) -> Iterator[None]:
    """Look through a camera, and restore the artist's own camera or view afterwards."""
    if camera is None:
        yield
        return
    before, free = viewport.camera(), viewport.defaultCamera().stash()
    try:
        viewport.setCamera(camera)
        yield
    finally:
        if isinstance(before, hou.ObjNode):
            viewport.setCamera(before)
        else:
            viewport.useDefaultCamera()
            viewport.setDefaultCamera(free)


@contextmanager
def _shaded(viewport: hou.GeometryViewport, asked: Look) -> Iterator[None]:
    if asked.shading is None:
        yield
        return
    mode, materials = _SHADINGS[asked.shading]
    settings = viewport.settings()
    sets = [settings.displaySet(getattr(hou.displaySetType, name)) for name in _SETS]
    before, with_materials = [each.shadedMode() for each in sets], settings.showingMaterials()
    try:
        for each in sets:
            each.setShadedMode(getattr(hou.glShadingType, mode))
        settings.showMaterials(materials)
        yield
    finally:
        for each, earlier in zip(sets, before, strict=True):
            each.setShadedMode(earlier)
        settings.showMaterials(with_materials)
