"""The ``lights`` port. The environment is in ``surroundings``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import hou

from callboard.errors import HostError
from callboard.host import OWN, POWER, SIZE, Json, LightKind, known_values, refuse_unknown, watts
from callboard_houdini.application.names import (
    check_new_name,
    find,
    objects,
    root,
    telling,
    type_of,
)
from callboard_houdini.application.units import meters_per_unit
from callboard_houdini.parts import surroundings
from callboard_houdini.parts.assets import refuse_inside_asset
from callboard_houdini.parts.parms import (
    number,
    numbers,
    parm,
    parm_tuple,
    refuse_keyed,
    set_known,
    set_numbers,
)

LIGHT, DOME = "hlight", "envlight"
#: Values of ``light_type``. A spot is a point light with a cone.
_TYPES = {"sun": "sun", "point": "sphere", "spot": "sphere", "area": "grid"}
_KINDS = {
    **{"distant": "sun", "sun": "sun", "point": "point", "sphere": "point"},
    **{"grid": "area", "disk": "area"},
}
#: For each type without a width, the similar type with a width. A distant light with an angle
#: becomes a sun, because Mantra ignores a distant light's angle.
_WIDE = {"distant": "sun", "point": "sphere"}


class HoudiniLights:
    def names(self) -> Mapping[str, str]:
        return {str(node.path()): str(node.name()) for node in objects() if _is_light(node)}

    def get(self, name: str) -> Json:
        node = _find(name)
        kind = _kind(node)
        own = OWN.get(kind, ())
        intensity = number(parm(node, "light_intensity"))
        wide = _cone(node)
        return {
            "name": str(node.name()),
            "path": str(node.path()),
            "kind": kind,
            "color": numbers(parm_tuple(node, "light_color")),
            # Without normalization, a larger light is brighter.
            "power": intensity * watts(kind, meters_per_unit())
            if "power" in own and _is_normalized(node)
            else None,
            "intensity": intensity,
            "exposure": number(parm(node, "light_exposure")),
            "size": _size(node) if "size" in own else None,
            "angle": number(parm(node, "vm_envangle")) if kind == "sun" else wide,
            "blend": _blend(node, wide) if wide is not None else None,
        }

    def create(self, kind: LightKind, name: str | None) -> str:
        named = name or kind.capitalize()
        check_new_name(named)
        with telling("create a light"):
            node = root().createNode(DOME if kind == "dome" else LIGHT, named)
            assert isinstance(node, hou.ObjNode)
            if kind != "dome":
                parm(node, "light_type").set(_TYPES[kind])
                # Light fades with the square of the distance.
                set_known(node, "atten_type", "physical")
                set_known(node, "normalizearea", 1)
                parm(node, "light_intensity").set(POWER[kind] / watts(kind, meters_per_unit()))
            if kind in SIZE:
                set_numbers(parm_tuple(node, "areasize"), [SIZE[kind] / meters_per_unit()] * 2)
            if kind == "spot":
                parm(node, "coneenable").set(1)
                _set_cone(node, 45.0, 0.15)
        return str(node.path())

    def set(self, name: str, values: Mapping[str, Any]) -> str:
        node = _find(name)
        refuse_inside_asset(node, values_only=True)
        kind = _kind(node)
        refuse_unknown(kind, values, known_values(kind))
        wanted = _parms(node, kind, values)
        refuse_keyed(node, wanted)
        with telling(f"set '{node.name()}'"):
            for key, value in wanted.items():
                if isinstance(value, list):
                    set_numbers(parm_tuple(node, key), value)
                else:
                    parm(node, key).set(value)
            if "power" in values:
                set_known(node, "normalizearea", 1)
        return str(node.path())

    def environment(self) -> Json:
        return surroundings.read(_domes())

    def set_environment(self, values: Mapping[str, Any]) -> None:
        with telling("set the environment"):
            surroundings.write(_domes(), values)


def _is_light(node: hou.ObjNode) -> bool:
    return type_of(node) in (LIGHT, DOME)


def _domes() -> list[hou.ObjNode]:
    """Return the environment lights that are on."""
    domes = [node for node in objects() if type_of(node) == DOME]
    return [node for node in domes if number(parm(node, "light_enable"))]


def _find(name: str) -> hou.ObjNode:
    node = find(name)
    if not _is_light(node):
        raise HostError(f"'{node.name()}' isn't a light; use lights__list to find one")
    return node


def _kind(node: hou.ObjNode) -> str:
    if type_of(node) == DOME:
        return "dome"
    shape = _shape(node)
    kind = _KINDS.get(shape, shape)
    return "spot" if kind == "point" and number(parm(node, "coneenable")) else kind


def _shape(node: hou.ObjNode) -> str:
    return str(parm(node, "light_type").evalAsString())


def _size(node: hou.ObjNode) -> list[float]:
    return [0.0, 0.0] if _shape(node) == "point" else numbers(parm_tuple(node, "areasize"))[:2]


def _parms(node: hou.ObjNode, kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new values of Houdini's parameters."""
    wanted: dict[str, Any] = {}
    shape = _shape(node)
    if shape in _WIDE and ("size" in values or (kind == "sun" and "angle" in values)):
        wanted["light_type"] = _WIDE[shape]
    if "color" in values:
        wanted["light_color"] = list(values["color"])
    if "power" in values:
        wanted["light_intensity"] = values["power"] / watts(kind, meters_per_unit())
    for key in ("intensity", "exposure"):
        if key in values:
            wanted[f"light_{key}"] = float(values[key])
    if "size" in values:
        size = values["size"]
        pair = [float(side) for side in (size if isinstance(size, (list, tuple)) else [size] * 2)]
        if pair[0] != pair[1] and kind != "area":
            raise HostError(f"'{node.name()}' is round, so its size is one number, its diameter")
        wanted["areasize"] = pair
    if kind == "sun" and "angle" in values:
        wanted["vm_envangle"] = float(values["angle"])
    elif "angle" in values or "blend" in values:
        wide = _cone(node) or 0.0
        blend = values.get("blend", _blend(node, wide))
        wanted["coneangle"], wanted["conedelta"] = _cone_parms(values.get("angle", wide), blend)
    return wanted


def _cone(node: hou.ObjNode) -> float | None:
    """Return the full cone of a spot light, or None for any other light. The cone includes, on both
    sides, the delta in which the light fades out beyond Houdini's cone angle."""
    if _kind(node) != "spot":
        return None
    return number(parm(node, "coneangle")) + 2 * number(parm(node, "conedelta"))


def _blend(node: hou.ObjNode, wide: float) -> float:
    return 2 * number(parm(node, "conedelta")) / wide if wide else 0.0


def _cone_parms(wide: float, blend: float) -> tuple[float, float]:
    return wide * (1 - blend), wide * blend / 2


def _set_cone(node: hou.ObjNode, wide: float, blend: float) -> None:
    angle, delta = _cone_parms(wide, blend)
    parm(node, "coneangle").set(angle)
    parm(node, "conedelta").set(delta)


def _is_normalized(node: hou.ObjNode) -> bool:
    switch = node.parm("normalizearea")
    return switch is None or bool(number(switch))
