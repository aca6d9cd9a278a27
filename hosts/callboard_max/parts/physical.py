"""Reads and sets the values of a physical material by our names, and the maps that drive them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Json
from callboard_max.parts import maps
from callboard_max.parts.driven_values import has, refuse_controlled
from callboard_max.parts.kept_materials import Material, class_of
from callboard_max.parts.object_color import color_of

#: The property of each value, and the map that can drive it. Opacity and normal have only a map.
_PROPERTIES = {
    "color": ("base_color", "base_color_map"),
    "metalness": ("metalness", "metalness_map"),
    "roughness": ("roughness", "roughness_map"),
    "specular": ("reflectivity", "reflectivity_map"),
    "ior": ("trans_ior", "trans_ior_map"),
    "transmission": ("transparency", "transparency_map"),
    "emission": ("emit_color", "emit_color_map"),
    "emission_strength": ("emission", "emission_map"),
    "opacity": (None, "cutout_map"),
    "normal": (None, "bump_map"),
}
#: Properties that are set along with a value.
_ALSO = {"emission": "emit_kelvin", "emission_strength": "emit_luminance"}
_COLORS = ("color", "emission")
_NUMBERS_ONLY = ("ior", "emission_strength")
#: The luminance, in candela per square meter, that looks as bright as white on a screen.
_WHITE = 1500.0
#: The color temperature, in kelvin, that leaves a light's color unchanged.
_NEUTRAL = 6500.0
#: The ``material_mode`` in which the material editor shows all values.
_ADVANCED = 1


def new(name: str) -> Material:
    material = rt.PhysicalMaterial(name=name)
    material.material_mode = _ADVANCED
    return material


def is_physical(material: Material) -> bool:
    return has(material, "base_color") and has(material, "trans_ior")


def read(material: Material) -> Json:
    """Return the values and ``textures``. A value that a map drives is None. For another type of
    material, everything but the color is None."""
    keys = [key for key in _PROPERTIES if key != "normal"]
    if not is_physical(material):
        color = color_of(material)
        return {
            "type": class_of(material),
            **dict.fromkeys(keys),
            "color": color,
            "textures": {},
        }
    driven = {
        key: texture
        for key, (_, slot) in _PROPERTIES.items()
        if key not in _NUMBERS_ONLY and (texture := maps.read(material, slot)) is not None
    }
    values = {key: _value(material, key) for key in keys}
    return {"type": class_of(material), **values, "textures": driven}


def write(material: Material, values: Mapping[str, Any]) -> None:
    """Set the given values, and disconnect what drives them."""
    _refuse_other(material)
    names = [name for key in values for name in _PROPERTIES[key] if name is not None]
    names += [also for key, also in _ALSO.items() if key in values]
    refuse_controlled(material, names)
    for key, value in values.items():
        name, slot = _PROPERTIES[key]
        maps.put(material, slot, None)
        if key in _COLORS:
            setattr(material, str(name), rt.Color(*(float(part) * 255 for part in value)))
        elif key == "opacity":
            maps.put(material, slot, maps.constant(value) if value < 1 else None)
        elif key == "emission_strength":
            material.emission = 1.0
            material.emit_luminance = float(value) * _WHITE
        else:
            setattr(material, str(name), 1.0 - value if _is_inverted(material, key) else value)
        if key == "emission":
            material.emit_kelvin = _NEUTRAL


def slot_of(material: Material, key: str) -> str:
    """Return the property that holds the map. Raises HostError for a material of another type."""
    _refuse_other(material)
    return _PROPERTIES[key][1]


def _refuse_other(material: Material) -> None:
    if not is_physical(material):
        raise HostError(
            f"'{material.name}' is of type {class_of(material)}, which has a different set of"
            " values; make a physical material with materials__create"
        )


def _value(material: Material, key: str) -> Any:
    name, slot = _PROPERTIES[key]
    if key == "opacity":
        return maps.constant_of(material, slot)
    if maps.driving(material, slot) is not None:
        return None
    value = getattr(material, str(name))
    if key in _COLORS:
        tinted = key == "emission" and abs(float(material.emit_kelvin) - _NEUTRAL) > 1
        return None if tinted else [float(part) / 255 for part in (value.r, value.g, value.b)]
    if key == "emission_strength":
        return float(value) * float(material.emit_luminance) / _WHITE
    return 1.0 - float(value) if _is_inverted(material, key) else float(value)


def _is_inverted(material: Material, key: str) -> bool:
    return key == "roughness" and bool(material.roughness_inv)
