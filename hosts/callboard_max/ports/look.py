"""The ``look`` port: pictures of the scene for an agent. One of the artist's views draws them
through a temporary camera, or 3ds Max's renderer draws them. Only 3ds Max with a GUI has this
port."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from math import radians, tan
from pathlib import Path
from tempfile import TemporaryDirectory

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Json, Look, Picture, Point, View, decode
from callboard_max.application.names import Node, objects, path_of, telling
from callboard_max.parts.driven_values import has
from callboard_max.parts.matrices import rows_of
from callboard_max.parts.pick import artists_sight, first_hit
from callboard_max.parts.shapes import is_geometry
from callboard_max.ports.cameras import camera_named
from callboard_max.ports.render import MaxRender
from callboard_max.ports.viewport import drawn
from callboard_qt import seen_or_rendered, through

#: The names of a view's styles. See-through isn't one of them, because it is a property of the
#: objects themselves.
_STYLES = {"solid": "Clay", "wireframe": "Wireframe", "xray": "Clay", "material": "Shaded"}
#: Views that can be restored completely after they have used another camera.
_LENT = ("view_persp_user", "view_camera")
#: Categories of objects that aren't rendered.
_OVERLAYS = ("lights", "cameras", "helpers")
#: The clipping range. A named camera's own range isn't used.
_NEAR, _FAR = 0.01, 1e7


class MaxLook:
    def __init__(self, render: MaxRender) -> None:
        self._render = render

    def picture(self, asked: Look) -> tuple[Picture, Json]:
        with self._render.unnoticed(), telling("draw the view"), ExitStack() as stack:
            if asked.frame is not None:
                stack.enter_context(_at_frame(asked.frame))
            view = _seen(asked)
            if asked.shading == "rendered":
                return self._rendered(asked, view)
            picture = self._drawn(asked, view)
            return seen_or_rendered(picture, self.boxes(), lambda: self._rendered(asked, view))

    def under(self, asked: Look, x: float, y: float) -> tuple[str, Point] | None:
        """Return the object under a point, as :meth:`callboard.ports.look.Picks.under` does."""
        aspect = asked.width / asked.height
        rendered = asked.shading == "rendered"
        with self._render.unnoticed(), telling("look at the scene"), ExitStack() as stack:
            if asked.frame is not None:
                stack.enter_context(_at_frame(asked.frame))
            view = _seen(asked)
            if view is None and rendered:
                view = _seen(replace(asked, camera=path_of(self._render.camera())))
            if view is not None:
                return first_hit(through(view, aspect, x, y), rendered)
            sight = artists_sight(aspect, x, y, self.boxes())
            return None if sight is None else first_hit(sight, rendered)

    def own_view(self) -> bool:
        return True

    def boxes(self) -> Iterable[tuple[Point, Point]]:
        return self._render.boxes()

    def _drawn(self, asked: Look, view: View | None) -> Picture:
        aspect = asked.width / asked.height
        with ExitStack() as stack:
            if view is not None:
                stack.enter_context(_perspective())
                size = rt.getViewSize()
                shown = max(1.0, float(size.x) / float(size.y) / aspect)
                camera = stack.enter_context(
                    self._render.camera_at(replace(view, wide=view.wide * shown), aspect * shown)
                )
                stack.enter_context(_through(camera))
            stack.enter_context(_drawn_as(asked))
            return decode(drawn(asked.width, asked.height, cropped=view is not None))

    def _rendered(self, asked: Look, view: View | None) -> tuple[Picture, Json]:
        aspect = asked.width / asked.height
        with TemporaryDirectory(prefix="callboard-") as folder, ExitStack() as stack:
            if asked.camera is not None:
                camera = camera_named(asked.camera)
            elif view is not None:
                camera = stack.enter_context(self._render.camera_at(view, aspect))
            else:
                camera = self._render.camera()
            file = Path(folder, "look.png")
            frame = self._render.current_frame()
            made, engine = self._render.draw(file, asked.width, asked.height, camera, frame)
            return decode(made.read_bytes()), self._render.made_by(engine)


def _seen(asked: Look) -> View | None:
    """Return the view, or None for the artist's own view."""
    if asked.camera is None:
        return asked.view
    camera = camera_named(asked.camera)
    if has(camera, "orthoProjection") and camera.orthoProjection:
        raise HostError(f"'{camera.name}' is orthographic; look with angles instead")
    half = tan(radians(float(camera.fov)) / 2)
    return View(rows_of(camera.transform), half, _NEAR, _FAR)


@contextmanager
def _at_frame(number: float) -> Iterator[None]:
    before = rt.sliderTime
    try:
        rt.sliderTime = number
        yield
    finally:
        rt.sliderTime = before


@contextmanager
def _perspective() -> Iterator[None]:
    """Activate a view that can be restored."""
    views = rt.viewport
    before = int(views.activeViewport)
    try:
        others = [number for number in range(1, int(views.numViews) + 1) if number != before]
        for number in (before, *others):
            views.activeViewport = number
            if str(views.getType()).strip("#").lower() in _LENT:
                break
        else:
            raise HostError("no view of 3ds Max is in perspective; ask the artist to switch a view")
        yield
    finally:
        views.activeViewport = before


@contextmanager
def _through(camera: Node) -> Iterator[None]:
    """Look through a camera, and restore the artist's own camera or view afterwards."""
    views = rt.viewport
    kind, own, place, angle = views.getType(), views.getCamera(), views.getTM(), views.GetFOV()
    framed = bool(rt.displaySafeFrames)
    try:
        rt.displaySafeFrames = False
        views.setCamera(camera)
        yield
    finally:
        if own is not None:
            views.setCamera(own)
        else:
            views.setType(kind)
            views.setTM(place)
            views.SetFOV(angle)
        rt.displaySafeFrames = framed
        rt.redrawViews()


@contextmanager
def _drawn_as(asked: Look) -> Iterator[None]:
    settings, hidden = rt.NitrousGraphicsManager.GetActiveViewportSetting(), rt.hideByCategory
    number = int(rt.viewport.activeViewport)
    style, edged = settings.VisualStyleMode, bool(settings.ShowEdgedFacesEnabled)
    brackets, grid = settings.ShowSelectionBracketsEnabled, rt.viewport.getGridVisibility(number)
    categories = {name: bool(getattr(hidden, name)) for name in _OVERLAYS}
    surfaces = [node for node in objects() if is_geometry(node)] if asked.shading == "xray" else []
    through = [(node, bool(node.xray)) for node in surfaces]
    try:
        if asked.shading is not None:
            settings.VisualStyleMode = rt.Name(_STYLES[asked.shading])
            settings.ShowEdgedFacesEnabled = False
        for node, _ in through:
            node.xray = True
        if not asked.overlays:
            settings.ShowSelectionBracketsEnabled = False
            rt.viewport.setGridVisibility(number, False)
            for name in categories:
                setattr(hidden, name, True)
        yield
    finally:
        for name, was in categories.items():
            setattr(hidden, name, was)
        rt.viewport.setGridVisibility(number, grid)
        settings.ShowSelectionBracketsEnabled = brackets
        for node, was in through:
            node.xray = was
        settings.VisualStyleMode, settings.ShowEdgedFacesEnabled = style, edged
