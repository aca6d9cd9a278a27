"""The ``cameras`` port. Maya measures a camera's lens in millimeters and its film in
inches. Pictures are taken with the renderable camera. The artist's view stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan, degrees
from typing import Any

from maya import cmds

from callboard.errors import HostError
from callboard.host import Json
from callboard_maya.application.names import (
    bare,
    check_new_name,
    find,
    full_path,
    parent_of,
    telling,
)
from callboard_maya.parts.plugs import refuse_driven, refuse_instance
from callboard_maya.parts.shapes import shape_of

_INCH = 25.4
#: A new camera's film size, for a 3:2 picture, and its focal length, in millimeters.
_SENSOR, _LENS = (36.0, 24.0), 50.0
#: Values of ``filmFit``, for a picture whose aspect ratio differs from the film's.
_FILL, _HORIZONTAL, _VERTICAL = 0, 1, 2


class MayaCameras:
    def names(self) -> Mapping[str, str]:
        shapes = (shape for shape in all_shapes() if not is_startup(shape))
        return {path: bare(path) for shape in shapes if (path := parent_of(shape))}

    def get(self, name: str) -> Json:
        path, shape = _find(name)
        orthographic = bool(cmds.getAttr(f"{shape}.orthographic"))
        return {
            "name": bare(path),
            "path": path,
            "projection": "orthographic" if orthographic else "perspective",
            "fov": None if orthographic else _fov(shape),
            "lens": _number(shape, "focalLength"),
            "sensor": _number(shape, "horizontalFilmAperture") * _INCH,
            "clip": [_number(shape, "nearClipPlane"), _number(shape, "farClipPlane")],
            "focus_distance": _number(shape, "focusDistance"),
            "fstop": _number(shape, "fStop") if cmds.getAttr(f"{shape}.depthOfField") else 0.0,
            "active": path == rendered(),
        }

    def create(self, name: str | None) -> str:
        named = name or "Camera"
        check_new_name(named)
        with telling("create a camera"):
            path = full_path(cmds.createNode("transform", name=named, skipSelect=True))
            cmds.createNode("camera", name=f"{bare(path)}Shape", parent=path, skipSelect=True)
            shape = shape_of(path) or path
            wide, high = (side / _INCH for side in _SENSOR)
            cmds.setAttr(f"{shape}.renderable", False)
            cmds.setAttr(f"{shape}.horizontalFilmAperture", wide)
            cmds.setAttr(f"{shape}.verticalFilmAperture", high)
            cmds.setAttr(f"{shape}.focalLength", _LENS)
        return path

    def set(self, name: str, values: Mapping[str, Any]) -> str:
        path, shape = _find(name)
        refuse_instance(path, shape)
        wanted = _attributes(shape, values)
        refuse_driven(path, [f"{shape}.{attribute}" for attribute in wanted])
        with telling(f"set '{bare(path)}'"):
            for attribute, value in wanted.items():
                cmds.setAttr(f"{shape}.{attribute}", value)
            if "active" in values:
                _activate(shape, bool(values["active"]))
        return path


def camera_named(name: str) -> str:
    """Return the camera's path. Raises ObjectNotFound or AmbiguousName, or HostError if the object
    isn't a camera."""
    return _find(name)[0]


def all_shapes() -> list[str]:
    return list(cmds.ls(type="camera", long=True) or [])


def is_startup(shape: str) -> bool:
    """Return whether the camera is one of the cameras that each scene begins with."""
    return bool(cmds.camera(shape, query=True, startupCamera=True))


def rendered() -> str | None:
    """Return the renderable camera. The artist's own cameras come before the cameras that each
    scene begins with."""
    renderable = [shape for shape in all_shapes() if cmds.getAttr(f"{shape}.renderable")]
    renderable.sort(key=is_startup)
    return parent_of(renderable[0]) if renderable else None


def _activate(shape: str, active: bool) -> None:
    for each in all_shapes():
        renderable = active if each == shape else not active and _is_rendered(each)
        if renderable != _is_rendered(each):
            cmds.setAttr(f"{each}.renderable", renderable)


def _is_rendered(shape: str) -> bool:
    return bool(cmds.getAttr(f"{shape}.renderable"))


def _find(name: str) -> tuple[str, str]:
    path = find(name)
    shape = shape_of(path)
    if shape is None or cmds.nodeType(shape) != "camera":
        raise HostError(f"'{bare(path)}' isn't a camera; use cameras__list to find one")
    return path, shape


def _attributes(shape: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new values of Maya's attributes."""
    wanted: dict[str, Any] = {}
    if "lens" in values:
        wanted["focalLength"] = values["lens"]
    if "sensor" in values:
        wide, high = (_number(shape, f"{side}FilmAperture") for side in ("horizontal", "vertical"))
        wanted["horizontalFilmAperture"] = values["sensor"] / _INCH
        # The film keeps its proportions.
        wanted["verticalFilmAperture"] = values["sensor"] / _INCH * high / wide
    if "clip" in values:
        wanted["nearClipPlane"], wanted["farClipPlane"] = values["clip"]
    if "focus_distance" in values:
        wanted["focusDistance"] = values["focus_distance"]
    if "fstop" in values:
        wanted["depthOfField"] = values["fstop"] > 0
        if values["fstop"] > 0:
            wanted["fStop"] = values["fstop"]
    return wanted


def _fov(shape: str) -> list[float]:
    """Return the angles of view of the rendered picture, no matter which side of the film the
    picture is fitted to."""
    wide = _number(shape, "horizontalFilmAperture") * _number(shape, "lensSqueezeRatio")
    high = _number(shape, "verticalFilmAperture")
    aspect = float(cmds.getAttr("defaultResolution.deviceAspectRatio"))
    fit = int(cmds.getAttr(f"{shape}.filmFit"))
    wider = wide / high >= aspect
    fill = fit == _FILL
    if fit == _HORIZONTAL or (fit != _VERTICAL and wider != fill):
        high = wide / aspect
    else:
        wide = high * aspect
    away = _number(shape, "focalLength") / _INCH / _number(shape, "cameraScale")
    return [degrees(2 * atan(side / 2 / away)) for side in (wide, high)]


def _number(shape: str, attribute: str) -> float:
    return float(cmds.getAttr(f"{shape}.{attribute}"))
