"""The ``lights`` port. New lights are Arnold lights, because Arnold comes with 3ds Max. Only the
color and intensity of other lights are reported. The environment is in ``surroundings``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import (
    OWN,
    POWER,
    SIZE,
    Json,
    LightKind,
    known_values,
    of_kelvin,
    refuse_unknown,
    watts,
)
from callboard_max.application.names import (
    Node,
    check_new_name,
    find,
    free_name,
    objects,
    path_of,
    paths_of,
    telling,
)
from callboard_max.parts import surroundings
from callboard_max.parts.arnold import is_arnold, is_quad, kind_of, make
from callboard_max.parts.driven_values import has, refuse_controlled
from callboard_max.ports.scene import meters_per_unit


class MaxLights:
    def names(self) -> Mapping[str, str]:
        nodes = [node for node in objects() if _is_light(node)]
        return {path: str(node.name) for path, node in zip(paths_of(nodes), nodes, strict=True)}

    def get(self, name: str) -> Json:
        node = _find(name)
        reported: Json = {"name": str(node.name), "path": path_of(node)}
        return {**reported, **(_arnold(node) if is_arnold(node) else _other(node))}

    def create(self, kind: LightKind, name: str | None) -> str:
        named = name or kind.capitalize()
        check_new_name(named)
        with telling("create a light"):
            node = make(kind, free_name(named))
            if kind in SIZE:
                _set_size(node, SIZE[kind] / meters_per_unit())
            if kind == "spot":
                node.cone_angle, node.penumbra_angle = 45.0, 45.0 * 0.15
            if kind in POWER:
                node.intensity = POWER[kind] / watts(kind, meters_per_unit())
        return path_of(node)

    def set(self, name: str, values: Mapping[str, Any]) -> str:
        node = _find(name)
        if not is_arnold(node):
            kind = str(rt.classOf(node))
            raise HostError(
                f"'{node.name}' is a {kind}, whose values can't be set here; make an Arnold light"
                " with lights__create"
            )
        kind = kind_of(node)
        refuse_unknown(kind, values, known_values(kind))
        _refuse_round(node, values)
        refuse_controlled(node, _properties(node, kind, values))
        with telling(f"set '{node.name}'"):
            _write(node, kind, values)
        return path_of(node)

    def environment(self) -> Json:
        return surroundings.read()

    def set_environment(self, values: Mapping[str, Any]) -> None:
        with telling("set the environment"):
            surroundings.write(values)


def _is_light(node: Node) -> bool:
    return str(rt.superClassOf(node)).lower() == "light"


def _find(name: str) -> Node:
    node = find(name)
    if not _is_light(node):
        raise HostError(f"'{node.name}' isn't a light; use lights__list to find one")
    return node


def _arnold(node: Node) -> Json:
    kind = kind_of(node)
    intensity = float(node.intensity)
    angle = {"sun": "angle", "spot": "cone_angle"}.get(kind)
    return {
        "kind": kind,
        "color": _color(node),
        # Without normalization, a larger light is brighter.
        "power": intensity * watts(kind, meters_per_unit())
        if kind in POWER and node.normalize
        else None,
        "intensity": intensity,
        "exposure": float(node.exposure),
        "size": _size(node) if "size" in OWN.get(kind, ()) else None,
        "angle": float(getattr(node, angle)) if angle else None,
        "blend": float(node.penumbra_angle) / (float(node.cone_angle) or 1.0)
        if kind == "spot"
        else None,
    }


def _other(node: Node) -> Json:
    strength = next((key for key in ("intensity", "multiplier") if has(node, key)), None)
    rgb = node.rgb if has(node, "rgb") else None
    return {
        "kind": str(rt.classOf(node)).lower(),
        "color": None if rgb is None else [float(c) / 255 for c in (rgb.r, rgb.g, rgb.b)],
        "intensity": float(getattr(node, strength)) if strength else None,
        "exposure": 0.0,
        **dict.fromkeys(("power", "size", "angle", "blend")),
    }


def _write(node: Node, kind: str, values: Mapping[str, Any]) -> None:
    if "color" in values:
        node.useKelvin = node.usePreset = False
        node.useColor = True
        node.color = rt.Color(*(float(part) * 255 for part in values["color"]))
    if "size" in values:
        _set_size(node, values["size"])
    if "power" in values:
        node.normalize = True
        node.intensity = values["power"] / watts(kind, meters_per_unit())
    for key in ("intensity", "exposure"):
        if key in values:
            setattr(node, key, float(values[key]))
    if kind == "sun" and "angle" in values:
        node.angle = float(values["angle"])
    elif kind == "spot" and ("angle" in values or "blend" in values):
        blend = values.get("blend", float(node.penumbra_angle) / (float(node.cone_angle) or 1.0))
        node.cone_angle = float(values.get("angle", node.cone_angle))
        node.penumbra_angle = blend * float(node.cone_angle)


def _properties(node: Node, kind: str, values: Mapping[str, Any]) -> list[str]:
    names = {
        "color": ["color"],
        "power": ["intensity"],
        "intensity": ["intensity"],
        "exposure": ["exposure"],
        "size": ["quadX", "quadY"] if is_quad(node) else ["lightRadius"],
        "angle": ["angle"] if kind == "sun" else ["cone_angle", "penumbra_angle"],
        "blend": ["penumbra_angle"],
    }
    return [name for key in values for name in names[key]]


def _color(node: Node) -> list[float]:
    if node.useKelvin:
        return of_kelvin(float(node.kelvin))
    return [float(part) / 255 for part in (node.color.r, node.color.g, node.color.b)]


def _size(node: Node) -> list[float]:
    if is_quad(node):
        return [float(node.quadX), float(node.quadY)]
    return [2 * float(node.lightRadius)] * 2


def _set_size(node: Node, size: Any) -> None:
    wide, high = size if isinstance(size, (list, tuple)) else (size, size)
    if is_quad(node):
        node.quadX, node.quadY = float(wide), float(high)
    else:
        node.lightRadius = wide / 2


def _refuse_round(node: Node, values: Mapping[str, Any]) -> None:
    size = values.get("size")
    even = not isinstance(size, (list, tuple)) or size[0] == size[1]
    if not even and not is_quad(node):
        raise HostError(f"'{node.name}' is round, so its size is one number, its diameter")
