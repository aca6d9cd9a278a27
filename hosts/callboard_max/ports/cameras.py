"""The ``cameras`` port. New cameras are physical. The lens of any other type of camera is derived
from the angle and the render settings. A 3ds Max scene doesn't record which camera is used for
pictures."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan, degrees, radians, tan
from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Json
from callboard_max.application.names import (
    Node,
    check_new_name,
    find,
    free_name,
    handle,
    objects,
    path_of,
    paths_of,
    telling,
)
from callboard_max.parts.driven_values import has, refuse_controlled
from callboard_max.parts.scene_memory import lasting_memory, memory
from callboard_max.ports.scene import meters_per_unit

#: A new camera's focal length and sensor width, in millimeters, and its clipping range, in meters.
_LENS, _SENSOR, _CLIP = 50.0, 36.0, (0.01, 1000.0)
#: A clipping range that clips nothing.
_EVERYTHING = [0.0, 1e9]
#: The value of ``specify_focus`` for a distance other than the target's.
_OWN_FOCUS = 1


class MaxCameras:
    def names(self) -> Mapping[str, str]:
        nodes = _all()
        return {path: str(node.name) for path, node in zip(paths_of(nodes), nodes, strict=True)}

    def get(self, name: str) -> Json:
        node = camera_named(name)
        active = taking_pictures()
        flat = has(node, "orthoProjection") and bool(node.orthoProjection)
        values = _physical(node) if _is_physical(node) else _other(node)
        return {
            "name": str(node.name),
            "path": path_of(node),
            "projection": "orthographic" if flat else "perspective",
            "fov": None if flat else _fov(node),
            **values,
            "active": active is not None and handle(active) == handle(node),
        }

    def create(self, name: str | None) -> str:
        named = name or "Camera"
        check_new_name(named)
        with telling("create a camera"):
            node = rt.Physical_Camera(name=free_name(named), targeted=False)
            # Without this setting, the angle depends on the focus.
            node.lens_breathing_amount = 0.0
            node.film_width_mm, node.focal_length_mm = _SENSOR, _LENS
            near, far = (metres / meters_per_unit() for metres in _CLIP)
            node.clip_on, node.clip_near, node.clip_far = True, near, far
        return path_of(node)

    def set(self, name: str, values: Mapping[str, Any]) -> str:
        node = camera_named(name)
        wanted = _wanted(node, values)
        refuse_controlled(node, wanted)
        with telling(f"set '{node.name}'"):
            for key, value in wanted.items():
                setattr(node, key, value)
            if "active" in values:
                _activate(node, bool(values["active"]))
        return path_of(node)


def taking_pictures() -> Node | None:
    """Return the camera that was set as the active one, or else the camera of the active view, or
    else the first camera."""
    cameras = _all()
    kept = memory()
    if kept is not None and kept.camera is not None:
        chosen = handle(kept.camera)
        for node in cameras:
            if handle(node) == chosen:
                return node
    if not rt.maxOps.isInNonInteractiveMode():
        seen_by = rt.viewport.getCamera()
        if seen_by is not None:
            return seen_by
    return cameras[0] if cameras else None


def _activate(node: Node, active: bool) -> None:
    kept = lasting_memory()
    if active:
        kept.camera = node
    elif kept.camera is not None and handle(kept.camera) == handle(node):
        kept.camera = None


def _all() -> list[Node]:
    return [node for node in objects() if str(rt.superClassOf(node)).lower() == "camera"]


def camera_named(name: str) -> Node:
    """Return the camera. Raises HostError if the object isn't a camera."""
    node = find(name)
    if str(rt.superClassOf(node)).lower() != "camera":
        raise HostError(f"'{node.name}' isn't a camera; use cameras__list to find one")
    return node


def _is_physical(node: Node) -> bool:
    return has(node, "film_width_mm") and has(node, "focal_length_mm")


def _physical(node: Node) -> Json:
    sensor = float(node.film_width_mm)
    lens = float(node.focal_length_mm)
    if node.specify_fov:
        lens = sensor / 2 / tan(radians(float(node.fov)) / 2)
    own_focus = int(node.specify_focus) == _OWN_FOCUS
    return {
        "lens": lens,
        "sensor": sensor,
        "clip": [float(node.clip_near), float(node.clip_far)] if node.clip_on else _EVERYTHING,
        "focus_distance": float(node.focus_distance if own_focus else node.target_distance),
        "fstop": float(node.f_number) if node.use_dof else 0.0,
    }


def _other(node: Node) -> Json:
    sensor = float(rt.getRendApertureWidth())
    clipped = has(node, "clipManually") and node.clipManually
    return {
        "lens": sensor / 2 / tan(radians(float(node.fov)) / 2),
        "sensor": sensor,
        "clip": [float(node.nearclip), float(node.farclip)] if clipped else _EVERYTHING,
        "focus_distance": float(node.targetDistance) if has(node, "targetDistance") else 0.0,
        "fstop": 0.0,
    }


def _wanted(node: Node, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new values of 3ds Max's properties."""
    wanted: dict[str, Any] = {}
    if not _is_physical(node):
        unfit = [key for key in ("sensor", "focus_distance", "fstop") if key in values]
        if unfit:
            kind = str(rt.classOf(node))
            raise HostError(
                f"a {kind} has no {', '.join(unfit)}; make a physical camera with cameras__create"
            )
        if "lens" in values:
            half = float(rt.getRendApertureWidth()) / 2
            wanted["fov"] = degrees(2 * atan(half / values["lens"]))
        if "clip" in values:
            wanted["clipManually"] = True
            wanted["nearclip"], wanted["farclip"] = values["clip"]
        return wanted
    if "sensor" in values:
        wanted["film_width_mm"] = values["sensor"]
    if "lens" in values:
        wanted["specify_fov"], wanted["focal_length_mm"] = False, values["lens"]
    if "clip" in values:
        wanted["clip_on"] = True
        wanted["clip_near"], wanted["clip_far"] = values["clip"]
    if "focus_distance" in values:
        wanted["specify_focus"] = _OWN_FOCUS
        wanted["focus_distance"] = values["focus_distance"]
    if "fstop" in values:
        wanted["use_dof"] = values["fstop"] > 0
        if values["fstop"] > 0:
            wanted["f_number"] = values["fstop"]
    return wanted


def _fov(node: Node) -> list[float]:
    """Return the angles of view. 3ds Max's angle is the horizontal one."""
    across = float(node.fov)
    shape = float(rt.renderHeight) / (float(rt.renderWidth) * float(rt.renderPixelAspect))
    return [across, degrees(2 * atan(tan(radians(across) / 2) * shape))]
