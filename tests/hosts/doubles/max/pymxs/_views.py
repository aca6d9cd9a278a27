"""Views and bitmaps, as documented in MAXScript's help under "Accessing Active Viewport Info, Type,
and Transforms" and "Bitmap Values"."""

from __future__ import annotations

from math import radians, tan
from pathlib import Path

import raster
import rays

from . import _objects as objects
from . import _scene as sc
from . import _values as values
from ._session import session

_SIZE = (160, 120)
_STYLES = {
    "clay": "solid",
    "wireframe": "wireframe",
    "shaded": "material",
    "realistic": "material",
}
_TYPES = ("view_top", "view_front", "view_left", "view_persp_user", "view_camera")


class Bitmap:
    def __init__(self, width, height, filename="") -> None:
        self.width, self.height, self.filename = width, height, filename
        self._rgb = bytes(3 * width * height)
        session.bitmaps += 1


def scaled(source, target):
    rows = []
    for row in range(target.height):
        line = 3 * source.width * (row * source.height // target.height)
        for column in range(target.width):
            at = line + 3 * (column * source.width // target.width)
            rows.append(source._rgb[at : at + 3])
    target._rgb = b"".join(rows)
    return target


def pasteBitmap(source, target, from_corner, to_corner):
    if min(from_corner.x, from_corner.y, to_corner.x, to_corner.y) < 0:
        raise RuntimeError("-- Runtime error: outside of the bitmap")
    wide = min(source.width - from_corner.x, target.width - to_corner.x)
    made = bytearray(target._rgb)
    for row in range(min(source.height - from_corner.y, target.height - to_corner.y)):
        start = 3 * ((from_corner.y + row) * source.width + from_corner.x)
        at = 3 * ((to_corner.y + row) * target.width + to_corner.x)
        made[at : at + 3 * wide] = source._rgb[start : start + 3 * wide]
    target._rgb = bytes(made)


def save(bitmap):
    if not bitmap.filename:
        raise RuntimeError("this would open a modal prompt: where to save the bitmap")
    if not bitmap.filename.endswith(".png"):
        raise NotImplementedError("the double doesn't model pictures that aren't PNG")
    data = raster.png(bitmap.width, bitmap.height, bitmap._rgb)
    Path(bitmap.filename).write_bytes(data)


def close(bitmap):
    session.bitmaps -= 1


def getViewSize():
    session.needs_windows("getViewSize")
    return values.Point2(*_SIZE)


def mapScreenToWorldRay(pixel):
    """Return the ray through a pixel, counted from the view's top left."""
    session.needs_windows("mapScreenToWorldRay")
    rows, wide = _lens()
    width, height = _SIZE
    across, down = (2 * pixel.x / width - 1) * wide, (1 - 2 * pixel.y / height) * wide
    down *= height / width
    if Viewport().isPerspView():
        way = [a * across + b * down - c for a, b, c in zip(*rows[:3], strict=True)]
        return values.Ray(values.Point3(*rows[3]), values.Point3(*way))
    # The eye's distance from the plane that is parallel to the view and contains the world's
    # origin.
    deep = sum(a * b for a, b in zip(rows[2], rows[3], strict=True))
    place = (
        at + deep * (a * across + b * down - c)
        for at, a, b, c in zip(rows[3], *rows[:3], strict=True)
    )
    return values.Ray(values.Point3(*place), values.Point3(*(-value for value in rows[2])))


def intersectRay(node, ray):
    """Return the point that the ray hits. A ray passes through faces that are turned away from its
    start."""
    data, start, along = node._data, list(ray.pos), list(ray.dir)
    if not (data.poly or sc.primitive(*data.shape)):
        return None
    points, faces, _ = _drawn(session.scene, data)
    hits = [at for at, facing in rays.met(points, faces, start, along) if facing]
    if not hits:
        return None
    place = (a + min(hits) * b for a, b in zip(start, along, strict=True))
    # Nothing uses the hit's direction, which would be the face's normal.
    return values.Ray(values.Point3(*place), ray.dir)


class Gw:
    def getViewportDib(self):
        session.needs_windows("gw.getViewportDib")
        made = Bitmap(*_SIZE)
        if session.is_blank():
            return made
        scene = session.scene
        shown = [n for n in scene.nodes.values() if n.poly or sc.primitive(*n.shape)]
        shown = [node for node in shown if not objects.Node(node.id).isHiddenInVpt]
        style = _STYLES[session.view_settings["VisualStyleMode"].lower()]
        if style == "solid" and shown and all(node.xray for node in shown):
            style = "xray"
        made._rgb = raster.pixels_of(_eye(), [_drawn(scene, node) for node in shown], style)
        return made


def _drawn(scene, node):
    made, world = node.polygons(), scene.world(node, objects.now())
    places = ([a + b for a, b in zip(at, node.offset, strict=True)] for at in made.points)
    return [sc.apply(place, world) for place in places], made.faces, (180, 90, 60)


def _eye():
    rows, wide = _lens()
    return raster.Eye(rows[:3], rows[3], wide, *_SIZE)


def _lens():
    """Return the position of the active view, and the tangent of half its horizontal angle."""
    camera = Viewport().getCamera()
    _, place, angle = session.views[session.active_view - 1]
    if camera is not None:
        rows, angle = camera.transform.rows(), camera.fov
    else:
        rows = sc.inverse(place)
    return rows, tan(radians(angle) / 2)


class Viewport:
    """The active view."""

    @property
    def numViews(self):
        session.needs_windows("viewport.numViews")
        return len(session.views)

    @property
    def activeViewport(self):
        session.needs_windows("viewport.activeViewport")
        return session.active_view

    @activeViewport.setter
    def activeViewport(self, number):
        session.needs_windows("viewport.activeViewport")
        if not 1 <= number <= len(session.views):
            raise RuntimeError(f"-- Runtime error: no viewport {number}")
        session.active_view = number

    def getCamera(self):
        session.needs_windows("viewport.getCamera")
        named = [node for node in session.scene.nodes.values() if node.name == session.view_camera]
        return objects.Node(named[0].id) if named and session.active_view == 2 else None

    def setCamera(self, camera):
        session.needs_windows("viewport.setCamera")
        if session.active_view != 2:
            raise NotImplementedError("the double doesn't model a camera in another view")
        session.view_camera = camera.name
        session.views[1][0] = "view_camera"

    def isPerspView(self):
        session.needs_windows("viewport.isPerspView")
        return session.views[session.active_view - 1][0] in ("view_persp_user", "view_camera")

    def getType(self):
        session.needs_windows("viewport.getType")
        return values.Name(session.views[session.active_view - 1][0])

    def setType(self, type):
        if type.text not in _TYPES:
            raise RuntimeError(f"-- Runtime error: unknown view {type}")
        camera = self.getCamera()
        if camera is not None and type.text != "view_camera":
            # The view stays where the camera was.
            session.view_camera = ""
            session.views[1][1:] = [sc.inverse(camera.transform.rows()), camera.fov]
        session.views[session.active_view - 1][0] = type.text

    def getTM(self):
        """Return the transform from the world into the view."""
        return values.Matrix3.of(session.views[session.active_view - 1][1])

    def setTM(self, matrix):
        session.views[session.active_view - 1][1] = matrix.rows()

    def GetFOV(self):
        return session.views[session.active_view - 1][2]

    def SetFOV(self, angle):
        session.views[session.active_view - 1][2] = angle

    def getGridVisibility(self, number):
        return session.grids[number]

    def setGridVisibility(self, number, visible):
        session.grids[number] = bool(visible)


class Nitrous:
    def GetActiveViewportSetting(self):
        session.needs_windows("NitrousGraphicsManager")
        return Setting()


class Setting(values.Strict):
    def __getattr__(self, name):
        if name not in session.view_settings:
            raise AttributeError(f"-- Unknown property: {name!r}")
        value = session.view_settings[name]
        return values.Name(value) if isinstance(value, str) else value

    def __setattr__(self, name, value):
        known = getattr(self, name)
        if isinstance(known, values.Name):
            if value.text.lower() not in _STYLES:
                raise RuntimeError(f"-- Runtime error: unknown visual style {value}")
            value = value.text
        session.view_settings[name] = value


class Hidden(values.Strict):
    """``hideByCategory``."""

    def __getattr__(self, name):
        if name not in session.hidden:
            raise AttributeError(f"-- Unknown property: {name!r}")
        return session.hidden[name]

    def __setattr__(self, name, value):
        getattr(self, name)
        session.hidden[name] = bool(value)
