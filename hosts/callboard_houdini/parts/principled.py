"""Reads and sets the values of a principled shader by our names, and the pictures that drive them.
A picture is multiplied by its value. All pictures of one material have the same UV scale."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hou

from callboard.errors import HostError
from callboard.host import Json, Texture
from callboard_houdini.parts.object_color import base_color
from callboard_houdini.parts.parms import (
    number,
    numbers,
    parm,
    parm_tuple,
    refuse_keyed,
    set_known,
    set_numbers,
)

NEW = "principledshader"
_PARMS = {
    **{"color": "basecolor", "metalness": "metallic", "roughness": "rough"},
    **{"specular": "reflect", "ior": "ior", "transmission": "transparency"},
    **{"emission": "emitcolor", "emission_strength": "emitint", "opacity": "opac"},
}
_COLORS = ("color", "emission")
#: Pictures that Houdini can read.
_PICTURES = (
    *(".rat", ".pic", ".exr", ".hdr", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".tga", ".bmp"),
    *(".psd", ".sgi", ".dpx", ".tx", ".ptx"),
)
#: Each color space's menu entries in several versions of Houdini, best first.
_SPACES = {"srgb": ("sRGB", "srgb", "sRGB - Texture"), "raw": ("linear", "Raw", "raw")}
#: Values of ``…_monoChannel``, in which 0 is the picture's brightness.
_CHANNELS = "_rgb"


@dataclass(frozen=True)
class _Slot:
    switch: str
    file: str
    space: str
    channel: str | None = None


def _slot_of(prefix: str, channel: bool = True) -> _Slot:
    switch, file, space = (
        f"{prefix}_{end}" for end in ("useTexture", "texture", "textureColorSpace")
    )
    return _Slot(switch, file, space, f"{prefix}_monoChannel" if channel else None)


_SLOTS = {
    "color": _slot_of("basecolor", channel=False),
    "metalness": _slot_of("metallic"),
    "roughness": _slot_of("rough"),
    "specular": _slot_of("reflect"),
    "transmission": _slot_of("transparency"),
    "emission": _slot_of("emitcolor", channel=False),
    "opacity": _slot_of("opaccolor", channel=False),
    "normal": _Slot("baseBumpAndNormal_enable", "baseNormal_texture", "baseNormal_colorspace"),
}


def is_principled(material: hou.OpNode) -> bool:
    return material.parm("basecolor_useTexture") is not None and material.parm("rough") is not None


def read(material: hou.OpNode) -> Json:
    """Return the values and ``textures``. A value that a picture or a wire drives is None. For
    another type of material, everything but the color is None."""
    kind = str(material.type().name())
    if not is_principled(material):
        color = base_color(material)
        reported = dict.fromkeys(_PARMS)
        return {
            "type": kind,
            **reported,
            "color": numbers(color) if color else None,
            "textures": {},
        }
    wired = _wired(material)
    textures = {key: _texture(material, slot) for key, slot in _SLOTS.items()}
    driven: Json = {key: reported for key, reported in textures.items() if reported is not None}
    driven |= {key: _unknown() for key in _SLOTS if _PARMS.get(key) in wired}
    values: Json = {}
    for key, name in _PARMS.items():
        if key in driven or name in wired:
            values[key] = None
        elif key in _COLORS:
            values[key] = numbers(parm_tuple(material, name))
        else:
            values[key] = number(parm(material, name))
    return {"type": kind, **values, "textures": driven}


def write(material: hou.OpNode, values: Mapping[str, Any]) -> None:
    """Set the given values, and remove the pictures that drove them."""
    _refuse(material, values)
    for key, value in values.items():
        if key in _SLOTS:
            clear(material, key)
        _set(material, key, value)


def clear(material: hou.OpNode, slot: str) -> None:
    _refuse(material, [slot])
    parm(material, _SLOTS[slot].switch).set(0)
    parm(material, _SLOTS[slot].file).set("")


def put(material: hou.OpNode, slot: str, texture: Texture) -> None:
    """Set the texture. Raises HostError for a picture that Houdini can't read, because Houdini
    itself reads the picture only when it draws."""
    _refuse(material, [slot])
    name, at = Path(texture.path).name, _SLOTS[slot]
    if Path(name).suffix.lower() not in _PICTURES:
        raise HostError(
            f"Houdini can't read '{name}'; its suffix must be one of {', '.join(_PICTURES)}"
        )
    if texture.channel is not None and at.channel is None:
        raise HostError(f"{slot} uses the whole picture in a principled shader; leave out channel")
    if texture.channel == "a":
        raise HostError(
            "a principled shader reads the brightness, red, green or blue of a picture, not its"
            " alpha; use another channel"
        )
    others = [key for key in _SLOTS if key != slot and _texture(material, _SLOTS[key])]
    scale = parm_tuple(material, "uvscale")
    if others and numbers(scale) != [*texture.uv_scale]:
        raise HostError(
            f"the pictures of one principled shader share their uv_scale, which is {numbers(scale)}"
            f" for {', '.join(others)}; use the same scale, or make another material"
        )
    set_numbers(scale, texture.uv_scale)
    parm(material, at.switch).set(1)
    parm(material, at.file).set(texture.path)
    _set_space(parm(material, at.space), texture.color_space)
    if at.channel is not None:
        parm(material, at.channel).set(_CHANNELS.index(texture.channel or "_"))
    if slot == "normal":
        set_known(material, "baseBumpAndNormal_type", "normal")
    else:
        _set(material, slot, [1.0] * 3 if slot in _COLORS else 1.0)


def _set(material: hou.OpNode, key: str, value: Any) -> None:
    name = _PARMS[key]
    if key in _COLORS:
        # Otherwise the points' colors would tint the result.
        set_known(material, f"{name}_usePointColor", 0)
        set_numbers(parm_tuple(material, name), value)
    else:
        parm(material, name).set(float(value))


def _refuse(material: hou.OpNode, keys: Any) -> None:
    if not is_principled(material):
        raise HostError(
            f"'{material.name()}' is of type {material.type().name()}, which has a different set of"
            " values; make a principled shader with materials__create"
        )
    names = [_PARMS[key] for key in keys if key in _PARMS]
    if wired := _wired(material).intersection(names):
        raise HostError(
            f"'{wired.pop()}' of '{material.name()}' is wired to another node; disconnect it in"
            " Houdini first"
        )
    refuse_keyed(material, names)


def _wired(material: hou.OpNode) -> set[str]:
    """Return the inputs that other nodes feed. The inputs have the parameters' names."""
    return {
        name
        for name, source in zip(material.inputNames(), material.inputs(), strict=False)
        if source is not None
    }


def _texture(material: hou.OpNode, slot: _Slot) -> Json | None:
    if not number(parm(material, slot.switch)):
        return None
    space = str(parm(material, slot.space).evalAsString())
    channel = int(number(parm(material, slot.channel))) if slot.channel else 0
    return {
        "path": str(parm(material, slot.file).evalAsString()) or None,
        "color_space": next((key for key, names in _SPACES.items() if space in names), space),
        "uv_scale": numbers(parm_tuple(material, "uvscale")),
        "channel": _CHANNELS[channel] if 0 < channel < len(_CHANNELS) else None,
    }


def _set_space(channel: hou.Parm, wanted: str) -> None:
    """Set the color space. A string parameter accepts words that its menu doesn't offer, so the
    result is checked."""
    known: list[str] = []
    with suppress(hou.OperationFailed):  # The parameter has no menu.
        known = [str(item) for item in channel.menuItems()]
    for name in sorted(_SPACES[wanted], key=lambda name: name not in known):
        with suppress(hou.OperationFailed, TypeError):
            channel.set(name)
        if channel.evalAsString() == name:
            return
    raise HostError(
        f"Houdini has no color space {' or '.join(_SPACES[wanted])} for this texture; it has"
        f" {', '.join(known[:12])}"
    )


def _unknown() -> Json:
    return {"path": None, "color_space": None, "uv_scale": None, "channel": None}
