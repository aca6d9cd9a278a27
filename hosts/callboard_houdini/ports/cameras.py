"""The ``cameras`` port. A Houdini scene stores the camera of a render node, but not the
camera for pictures of the scene, so callboard marks the latter."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan, degrees
from typing import Any

import hou

from callboard.errors import HostError
from callboard.host import Json, View, rows_of_sixteen, unit
from callboard_houdini.application.names import (
    check_new_name,
    find,
    objects,
    root,
    telling,
    type_of,
)
from callboard_houdini.parts.assets import refuse_inside_asset
from callboard_houdini.parts.parms import number, numbers, parm, parm_tuple, refuse_keyed

#: The user data that marks the camera for pictures.
_ACTIVE = "callboard_active"
_PROJECTIONS = {"perspective": "perspective", "ortho": "orthographic"}
#: Values of ``focalunits``, the unit of focal length and aperture.
_MILLIMETERS = {"mm": 1.0, "m": 1000.0, "nm": 1e-6, "in": 25.4, "ft": 304.8}
#: A new camera's focal length and sensor width, in millimeters.
_LENS, _SENSOR = 50.0, 36.0


class HoudiniCameras:
    def names(self) -> Mapping[str, str]:
        return {str(node.path()): str(node.name()) for node in _all()}

    def get(self, name: str) -> Json:
        node = camera_named(name)
        unit = _unit(node)
        projection = str(parm(node, "projection").evalAsString())
        active = taking_pictures()
        return {
            "name": str(node.name()),
            "path": str(node.path()),
            "projection": _PROJECTIONS.get(projection, projection),
            "fov": _fov(node) if projection == "perspective" else None,
            "lens": _value(node, "focal") * unit,
            "sensor": _value(node, "aperture") * unit,
            "clip": [_value(node, "near"), _value(node, "far")],
            "focus_distance": _value(node, "focus"),
            "fstop": _value(node, "fstop"),
            "active": active is not None and active.path() == node.path(),
        }

    def create(self, name: str | None) -> str:
        named = name or "Camera"
        check_new_name(named)
        with telling("create a camera"):
            node = root().createNode("cam", named)
            assert isinstance(node, hou.ObjNode)
            parm(node, "focal").set(_LENS)
            parm(node, "aperture").set(_SENSOR)
        return str(node.path())

    def set(self, name: str, values: Mapping[str, Any]) -> str:
        node = camera_named(name)
        refuse_inside_asset(node, values_only=True)
        wanted = _parms(node, values)
        refuse_keyed(node, wanted)
        with telling(f"set '{node.name()}'"):
            for key, value in wanted.items():
                parm(node, key).set(value)
            if "active" in values:
                _mark(node, bool(values["active"]))
        return str(node.path())


def taking_pictures() -> hou.ObjNode | None:
    """Return the marked camera, or else the camera that a 3D view looks through, or else the first
    camera."""
    cameras = _all()
    for node in cameras:
        if node.userData(_ACTIVE) is not None:
            return node
    for tab in hou.ui.paneTabs() if hou.isUIAvailable() else ():
        if isinstance(tab, hou.SceneViewer) and tab.isCurrentTab():
            seen_by = tab.curViewport().camera()
            if seen_by is not None and type_of(seen_by) == "cam":
                return seen_by
    return cameras[0] if cameras else None


def _mark(node: hou.ObjNode, active: bool) -> None:
    for each in _all():
        marked = each.userData(_ACTIVE) is not None
        if marked and (active or each == node) and not (active and each == node):
            each.destroyUserData(_ACTIVE)
    if active:
        node.setUserData(_ACTIVE, "1")


def _all() -> list[hou.ObjNode]:
    return [node for node in objects() if type_of(node) == "cam"]


def camera_named(name: str) -> hou.ObjNode:
    """Return the camera. Raises ObjectNotFound, AmbiguousName, and HostError if the object isn't a
    camera."""
    node = find(name)
    if type_of(node) != "cam":
        raise HostError(f"'{node.name()}' isn't a camera; use cameras__list to find one")
    return node


def view_of(node: hou.ObjNode, aspect: float, rendered: bool) -> View:
    """Return the view of a picture through the camera. ``aspect`` is its width divided by its
    height. A view shows the camera's whole frame, and a render its whole width. Raises HostError if
    the camera isn't a perspective camera."""
    if str(parm(node, "projection").evalAsString()) != "perspective":
        raise HostError(
            f"'{node.name()}' isn't a perspective camera; give angles to point at the scene"
        )
    wide = _value(node, "aperture") / (2 * _value(node, "focal"))
    if not rendered:
        wide *= max(1.0, aspect / _aspect(node))
    rows = rows_of_sixteen(node.worldTransform().asTuple())
    axes = [unit(row) for row in rows[:3]]
    return View([*axes, rows[3]], wide, _value(node, "near"), _value(node, "far"))


def _parms(node: hou.ObjNode, values: Mapping[str, Any]) -> dict[str, float]:
    """Return the new values of Houdini's parameters."""
    wanted: dict[str, float] = {}
    for key, name in (("lens", "focal"), ("sensor", "aperture")):
        if key in values:
            wanted[name] = values[key] / _unit(node)
    for key, name in (("focus_distance", "focus"), ("fstop", "fstop")):
        if key in values:
            wanted[name] = values[key]
    if "clip" in values:
        wanted["near"], wanted["far"] = values["clip"]
    return wanted


def _unit(node: hou.ObjNode) -> float:
    return _MILLIMETERS.get(str(parm(node, "focalunits").evalAsString()), 1.0)


def _fov(node: hou.ObjNode) -> list[float]:
    """Return the angles of view. The aperture is the width of the frame."""
    wide = _value(node, "aperture")
    high = wide / _aspect(node)
    return [degrees(2 * atan(side / 2 / _value(node, "focal"))) for side in (wide, high)]


def _aspect(node: hou.ObjNode) -> float:
    """Return the width of the camera's frame divided by its height."""
    across, down = numbers(parm_tuple(node, "res"))
    return across * _value(node, "aspect") / down


def _value(node: hou.ObjNode, name: str) -> float:
    return number(parm(node, name))
