"""The ``lights`` port. Lights are Maya's own, with Arnold's additions, so the port exists only
while Arnold's plug-in is loaded. The environment is in ``surroundings``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maya import cmds

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
from callboard_maya.application.names import bare, check_new_name, find, parent_of, telling
from callboard_maya.parts import surroundings
from callboard_maya.parts.arnold import DOME, METERS_PER_UNIT, make
from callboard_maya.parts.plugs import refuse_driven, refuse_instance
from callboard_maya.parts.shapes import shape_of
from callboard_maya.parts.textures import sources
from callboard_maya.parts.units import units_per_meter

# Arnold's own area light isn't used, because the viewport and other renderers don't support it.
_NEW = {
    **{"sun": "directionalLight", "point": "pointLight", "spot": "spotLight"},
    **{"area": "areaLight", "dome": DOME},
}
_KINDS = {type: kind for kind, type in _NEW.items()} | {"aiAreaLight": "area"}
#: Values of an Arnold area light's ``aiTranslator``.
_FLAT = ("quad", "disk")
#: The value of ``decayRate`` for the square of the distance, which Arnold always uses.
_QUADRATIC = 2


class MayaLights:
    def names(self) -> Mapping[str, str]:
        shapes = cmds.ls(type=cmds.listNodeTypes("light"), long=True) or []
        return {path: bare(path) for shape in shapes if (path := parent_of(shape))}

    def get(self, name: str) -> Json:
        path, shape = _find(name)
        kind = _kind(shape)
        own = OWN.get(kind, ())
        intensity = _number(shape, "intensity")
        wide = _cone(shape) if kind == "spot" else None
        return {
            "name": bare(path),
            "path": path,
            "kind": kind,
            "color": _color(shape),
            # Without normalization, a larger light is brighter.
            "power": intensity * watts(kind, METERS_PER_UNIT)
            if "power" in own and _number(shape, "aiNormalize")
            else None,
            "intensity": intensity,
            "exposure": _number(shape, "aiExposure"),
            "size": _size(path, shape) if "size" in own else None,
            "angle": _number(shape, "aiAngle") if kind == "sun" else wide,
            "blend": _blend(shape, wide) if wide is not None else None,
        }

    def create(self, kind: LightKind, name: str | None) -> str:
        named = name or kind.capitalize()
        check_new_name(named)
        with telling("create a light"):
            path, shape = make(_NEW[kind], named)
            wanted: dict[str, Any] = {}
            if kind in POWER:
                wanted["power"] = POWER[kind]
            if kind in SIZE:
                wanted["size"] = SIZE[kind] * units_per_meter()
            if kind == "spot":
                wanted.update(angle=45.0, blend=0.15)
            if cmds.attributeQuery("decayRate", node=shape, exists=True):
                cmds.setAttr(f"{shape}.decayRate", _QUADRATIC)
            _write(_plugs(path, shape, kind, wanted))
        return path

    def set(self, name: str, values: Mapping[str, Any]) -> str:
        path, shape = _find(name)
        refuse_instance(path, shape)
        kind = _kind(shape)
        refuse_unknown(kind, values, known_values(kind))
        wanted = _plugs(path, shape, kind, values)
        refuse_driven(path, [*wanted, *(f"{shape}.color{part}" for part in "RGB")])
        with telling(f"set '{bare(path)}'"):
            _write(wanted)
        return path

    def environment(self) -> Json:
        return surroundings.read()

    def set_environment(self, values: Mapping[str, Any]) -> None:
        with telling("set the environment"):
            surroundings.write(values)


def _find(name: str) -> tuple[str, str]:
    path = find(name)
    shape = shape_of(path)
    if shape is None or cmds.nodeType(shape) not in cmds.listNodeTypes("light"):
        raise HostError(f"'{bare(path)}' isn't a light; use lights__list to find one")
    return path, shape


def _kind(shape: str) -> str:
    """Return one of our kinds, or else Maya's type."""
    of_shape = str(cmds.nodeType(shape))
    if of_shape == "aiAreaLight":
        form = str(cmds.getAttr(f"{shape}.aiTranslator"))
        return "area" if form in _FLAT else form
    return _KINDS.get(of_shape, of_shape.lower())


def _plugs(path: str, shape: str, kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new values of Maya's attributes, by their full names."""
    wanted: dict[str, Any] = {}
    if "color" in values:
        if _number(shape, "aiUseColorTemperature"):
            wanted[f"{shape}.aiUseColorTemperature"] = False
        wanted[f"{shape}.color"] = [float(part) for part in values["color"]]
    if "power" in values:
        wanted[f"{shape}.aiNormalize"] = True
        wanted[f"{shape}.intensity"] = values["power"] / watts(kind, METERS_PER_UNIT)
    for key, attribute in (("intensity", "intensity"), ("exposure", "aiExposure")):
        if key in values:
            wanted[f"{shape}.{attribute}"] = float(values[key])
    if "size" in values:
        wanted.update(_size_plugs(path, shape, values["size"]))
    if kind == "sun" and "angle" in values:
        wanted[f"{shape}.aiAngle"] = float(values["angle"])
    elif "angle" in values or "blend" in values:
        wide = _cone(shape)
        blend = values.get("blend", _blend(shape, wide))
        wide = float(values.get("angle", wide))
        wanted[f"{shape}.coneAngle"] = wide * (1 - blend)
        wanted[f"{shape}.penumbraAngle"] = wide * blend / 2
    return wanted


def _write(plugs: Mapping[str, Any]) -> None:
    for plug, value in plugs.items():
        if isinstance(value, list):
            cmds.setAttr(plug, *value, type="double3")
        else:
            cmds.setAttr(plug, value)


def _color(shape: str) -> list[float] | None:
    if sources(f"{shape}.color"):
        return None
    if _number(shape, "aiUseColorTemperature"):
        return of_kelvin(_number(shape, "aiColorTemperature"))
    return [float(part) for part in cmds.getAttr(f"{shape}.color")[0]]


def _is_scaled(shape: str) -> bool:
    """Return whether the object's scale determines the light's size. At scale 1 the light is two
    centimeters wide."""
    return str(cmds.nodeType(shape)) in ("areaLight", "aiAreaLight")


def _size(path: str, shape: str) -> list[float]:
    if _is_scaled(shape):
        wide, high = (_number(path, f"scale{axis}") for axis in "XY")
    else:
        wide = high = _number(shape, "aiRadius")
    return [abs(2 * half) / _centimetres() for half in (wide, high)]


def _size_plugs(path: str, shape: str, size: Any) -> dict[str, float]:
    wide, high = size if isinstance(size, (list, tuple)) else (size, size)
    halves = [side * _centimetres() / 2 for side in (wide, high)]
    if _is_scaled(shape):
        return {f"{path}.scaleX": halves[0], f"{path}.scaleY": halves[1]}
    if wide != high:
        raise HostError(f"'{bare(path)}' is round, so its size is one number, its diameter")
    return {f"{shape}.aiRadius": halves[0]}


def _centimetres() -> float:
    """Return the number of centimeters in one of the scene's units."""
    return 100.0 / units_per_meter()


def _cone(shape: str) -> float:
    """Return the full cone of a spot light. A penumbra above 0 lies outside Maya's cone angle."""
    return _number(shape, "coneAngle") + 2 * max(0.0, _number(shape, "penumbraAngle"))


def _blend(shape: str, wide: float) -> float:
    return 2 * abs(_number(shape, "penumbraAngle")) / wide if wide else 0.0


def _number(node: str, attribute: str) -> float:
    """Return the value, or 0 when the light has no such attribute. Arnold adds its attributes to
    the lights that it can render."""
    if not cmds.attributeQuery(attribute, node=node, exists=True):
        return 0.0
    return float(cmds.getAttr(f"{node}.{attribute}"))
