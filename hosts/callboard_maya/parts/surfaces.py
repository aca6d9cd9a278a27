"""Reads and sets the values of a standard surface by our names, and the textures that drive
them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maya import cmds

from callboard.errors import HostError
from callboard.host import Json
from callboard_maya.parts import textures
from callboard_maya.parts.object_color import COLOR_ATTRIBUTES

NEW = "standardSurface"
_TYPES = (NEW, "aiStandardSurface")
_COLORS = ("color", "emission")
_ATTRIBUTES = {
    "color": "baseColor",
    "metalness": "metalness",
    "roughness": "specularRoughness",
    "specular": "specular",
    "ior": "specularIOR",
    "transmission": "transmission",
    "emission": "emissionColor",
    "emission_strength": "emission",
    "opacity": "opacity",
    "normal": "normalCamera",
}
#: Values that a picture can't drive.
_NUMBERS_ONLY = ("ior", "emission_strength")


def plug_of(material: str, key: str) -> str:
    """Return the plug of a value. Raises HostError for a material of another type."""
    kind = str(cmds.nodeType(material))
    if kind not in _TYPES:
        raise HostError(
            f"'{material}' is of type {kind}, which has a different set of values; make a"
            " standardSurface with materials__create"
        )
    return f"{material}.{_ATTRIBUTES[key]}"


def read(material: str) -> Json:
    """Return the values and ``textures``. A driven value is None. For another type of material,
    everything but the color is None."""
    keys = [key for key in _ATTRIBUTES if key != "normal"]
    kind = str(cmds.nodeType(material))
    if kind not in _TYPES:
        attribute = COLOR_ATTRIBUTES.get(kind)
        color = _value(f"{material}.{attribute}", "color") if attribute else None
        return {"type": kind, **dict.fromkeys(keys), "color": color, "textures": {}}
    driven = {
        slot: texture
        for slot in _ATTRIBUTES
        if slot not in _NUMBERS_ONLY
        and (texture := textures.read(plug_of(material, slot))) is not None
    }
    values = {key: _value(plug_of(material, key), key) for key in keys}
    return {"type": kind, **values, "textures": driven}


def write(material: str, values: Mapping[str, Any]) -> None:
    """Set the given values, and disconnect what drives them."""
    for key, value in values.items():
        plug = plug_of(material, key)
        textures.clear(plug)
        if key in _COLORS or key == "opacity":
            parts = value if key in _COLORS else [value] * 3
            cmds.setAttr(plug, *parts, type="double3")
        else:
            cmds.setAttr(plug, value)


def _value(plug: str, key: str) -> Any:
    if textures.sources(plug):
        return None
    value = cmds.getAttr(plug)
    if key in _COLORS:
        return [float(part) for part in value[0]]
    if key == "opacity":
        parts = value[0]
        return float(parts[0]) if len(set(parts)) == 1 else None
    return float(value)
