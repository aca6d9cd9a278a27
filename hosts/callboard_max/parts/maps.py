"""Links maps to a material's values. The maps are a bitmap, a color correction for one of its
channels, a normal bump for normals, and a color for an opacity that is a single number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Json, Texture
from callboard_max.parts.kept_materials import Material, class_of

_PICTURES = (
    *(".png", ".jpg", ".jpeg", ".tif", ".tiff", ".exr", ".hdr", ".tga", ".bmp", ".gif", ".psd"),
    *(".sgi", ".rgb", ".rla", ".rpf", ".dds", ".pic"),
)
_GAMMA = {"srgb": 2.2, "raw": 1.0}
#: The channels that a color correction passes on, by their numbers in 3ds Max.
_CHANNELS = "rgba"


def driving(material: Material, slot: str) -> Any:
    """Return the map that determines the value, or None."""
    source = getattr(material, slot)
    return source if source is not None and getattr(material, f"{slot}_on") else None


def put(material: Material, slot: str, made: Any) -> None:
    setattr(material, slot, made)
    if made is not None:
        setattr(material, f"{slot}_on", True)


def read(material: Material, slot: str) -> Json | None:
    """Return the texture that drives the slot, or None when the slot has no map, or only a map with
    a constant number."""
    source = driving(material, slot)
    if source is None or _is_plain(source):
        return None
    if _is(source, "Normal_Bump"):
        source = source.normal_map
    channel = None
    if source is not None and _is(source, "Color_Correction"):
        rewired = {int(source.rewireR), int(source.rewireG), int(source.rewireB)}
        only = rewired.pop() if len(rewired) == 1 else -1
        if only not in range(4):
            return _unknown()
        channel, source = _CHANNELS[only], source.map
    if source is None or not _is(source, "BitmapTexture"):
        return _unknown()
    return {
        "path": str(source.filename or "") or None,
        "color_space": _space_of(source),
        "uv_scale": [float(source.coords.U_Tiling), float(source.coords.V_Tiling)],
        "channel": channel,
    }


def connect(material: Material, slot: str, texture: Texture) -> None:
    """Connect the texture. Raises HostError when 3ds Max can't read the picture."""
    name = Path(texture.path).name
    if Path(texture.path).suffix.lower() not in _PICTURES:
        raise HostError(
            f"3ds Max can't read '{name}'; its suffix must be one of {', '.join(_PICTURES)}"
        )
    made = rt.BitmapTexture(filename=texture.path)
    if made.bitmap is None:
        raise HostError(f"3ds Max can't read the picture '{name}'")
    made.bitmap.gamma = _GAMMA[texture.color_space]
    made.coords.U_Tiling, made.coords.V_Tiling = texture.uv_scale
    if slot == "bump_map":
        normal = rt.Normal_Bump()
        normal.normal_map = made
        made, material.bump_map_amt = normal, 1.0
    elif texture.channel is not None:
        corrected = rt.Color_Correction()
        corrected.map = made
        number = _CHANNELS.index(texture.channel)
        corrected.rewireR = corrected.rewireG = corrected.rewireB = number
        made = corrected
    put(material, slot, made)


def constant(value: float) -> Any:
    """Return a map with the same number everywhere."""
    made = rt.ColorMap()
    made.solidcolor = rt.Color(*[float(value) * 255] * 3)
    made.gamma = 1.0
    return made


def constant_of(material: Material, slot: str) -> float | None:
    """Return the number of a map made by :func:`constant`, 1 if there is no map, or None when a
    different map determines the value."""
    source = driving(material, slot)
    if source is None:
        return 1.0
    if not _is_plain(source):
        return None
    color = source.solidcolor
    parts = {float(color.r), float(color.g), float(color.b)}
    return parts.pop() / 255 if len(parts) == 1 else None


def _is_plain(source: Any) -> bool:
    return _is(source, "ColorMap") and (source.map is None or not source.mapEnabled)


def _is(source: Any, name: str) -> bool:
    return class_of(source).lower() == name.lower()


def _space_of(source: Any) -> str | None:
    bitmap = source.bitmap
    if bitmap is None:
        return None
    gamma = float(bitmap.gamma)
    spaces = (space for space, wanted in _GAMMA.items() if abs(gamma - wanted) < 0.01)
    return next(spaces, f"gamma {gamma:g}")


def _unknown() -> Json:
    return {"path": None, "color_space": None, "uv_scale": None, "channel": None}
