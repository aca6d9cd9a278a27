"""Reads and writes a material's network. The network has a UsdPreviewSurface and, for each textured
input, a picture, a transform and a reader of the UVs. Every reader of preview surfaces supports
these nodes."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from pathlib import Path
from typing import Any

from pxr import Gf, Sdf, Usd, UsdShade

from callboard.errors import HostError
from callboard.host import Json, Texture
from callboard_openusd.parts.transforms import TIME, set_lasting

_TYPES = Sdf.ValueTypeNames
#: The surface's input for each of our slots, with the part of a picture that drives it.
INPUTS: dict[str, tuple[str, Sdf.ValueTypeName, str]] = {
    "color": ("diffuseColor", _TYPES.Color3f, "rgb"),
    "metalness": ("metallic", _TYPES.Float, "r"),
    "roughness": ("roughness", _TYPES.Float, "r"),
    "ior": ("ior", _TYPES.Float, "r"),
    "emission": ("emissiveColor", _TYPES.Color3f, "rgb"),
    "opacity": ("opacity", _TYPES.Float, "r"),
    "normal": ("normal", _TYPES.Normal3f, "rgb"),
}
#: The values of inputs that the file doesn't set.
_FALLBACKS: dict[str, Any] = {
    "color": Gf.Vec3f(0.18),
    "metalness": 0.0,
    "roughness": 0.5,
    "ior": 1.5,
    "emission": Gf.Vec3f(0),
    "opacity": 1.0,
}
_COLOR_SPACES = {"srgb": "sRGB", "raw": "raw"}
#: Picture formats that OpenUSD's own readers support.
_PICTURES = (".png", ".jpg", ".jpeg", ".exr", ".hdr", ".tga", ".bmp")
_UVS = "st"


def define(stage: Usd.Stage, path: Sdf.Path) -> UsdShade.Material:
    material = UsdShade.Material.Define(stage, path)
    shader = UsdShade.Shader.Define(stage, path.AppendChild("Surface"))
    shader.CreateIdAttr("UsdPreviewSurface")
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    return material


def read(material: UsdShade.Material) -> Json:
    """Return the material's values and textures. If its surface isn't a UsdPreviewSurface, the
    values are None."""
    surface = material.ComputeSurfaceSource()[0]
    kind = str(surface.GetShaderId()) if surface else ""
    names = ("color", "metalness", "roughness", "specular", "ior", "transmission", "emission")
    reported: Json = dict.fromkeys((*names, "emission_strength", "opacity"))
    reported.update(type=kind or "none", textures={})
    if kind != "UsdPreviewSurface":
        return reported
    for slot, (name, _, _) in INPUTS.items():
        value, texture = _input(surface, name)
        if texture is not None:
            reported["textures"][slot] = texture
        elif slot != "normal":
            value = _FALLBACKS[slot] if value is None else value
            reported[slot] = (
                [float(c) for c in value] if isinstance(value, Gf.Vec3f) else float(value)
            )
    if reported["ior"] is not None:
        reported["specular"] = min(1.0, _reflected(reported["ior"]) / _reflected(1.5))
    if reported["emission"] is not None:
        strength = max(1.0, *reported["emission"]) if any(reported["emission"]) else 0.0
        reported["emission"] = [c / (strength or 1.0) for c in reported["emission"]]
        reported["emission_strength"] = strength
    reported["transmission"] = 0.0
    mode = surface.GetInput("opacityMode")
    # Without this mode, opacity usually means a cut-out.
    if mode and mode.Get() == "transparent" and reported["opacity"] is not None:
        reported["transmission"], reported["opacity"] = 1.0 - reported["opacity"], 1.0
    return reported


def write(material: UsdShade.Material, values: Mapping[str, object]) -> None:
    """Set the given values. Inputs that were connected are disconnected."""
    surface = _surface(material)
    now = read(material)
    wanted: dict[str, Any] = dict(values)
    if "specular" in wanted:
        if "ior" in wanted and wanted["specular"] != 1:
            raise HostError(
                "OpenUSD's preview surface has one number, ior, for specular and ior; give only one"
            )
        weight = wanted.pop("specular")
        wanted.setdefault("ior", _ior_of(weight * _reflected(1.5)))
    opaque: Any = wanted.get("opacity", now["opacity"] or 1.0)
    if wanted.get("transmission") and opaque < 1:
        raise HostError(
            "OpenUSD's preview surface can't have both transmission and an opacity below 1; set"
            " transmission to 0 or opacity to 1"
        )
    if "transmission" in wanted or "opacity" in wanted:
        through = wanted.pop("transmission", now["transmission"])
        opacity = wanted.get("opacity", now["opacity"])
        if wanted.get("opacity", 1.0) < 1:
            through = 0.0
        mode = surface.CreateInput("opacityMode", _TYPES.Token)
        mode.Set("transparent" if through else "presence")
        if through or opacity is not None:
            wanted["opacity"] = 1.0 - through if through else opacity
    if "emission" not in wanted and wanted.get("emission_strength") and now["emission"] is None:
        raise HostError(
            "a picture drives emission, so OpenUSD's preview surface can't have a strength as well;"
            " to replace the picture, give emission as well"
        )
    strength = wanted.pop("emission_strength", None)
    color = wanted.pop("emission", now["emission"])
    if "emission" in values or "emission_strength" in values:
        strength = now["emission_strength"] if strength is None else strength
        wanted["emission"] = [c * (strength or 0.0) for c in color or (1.0, 1.0, 1.0)]
    for key, value in wanted.items():
        name, kind, _ = INPUTS[key]
        given = Gf.Vec3f(*value) if isinstance(value, (list, tuple)) else float(value)
        _set(surface, name, kind, given)


def write_texture(
    material: UsdShade.Material, slot: str, texture: Texture | None, asset: str, uvs: str | None
) -> None:
    """Set or remove the texture. ``asset`` is the file's name in the layer. ``uvs`` is the name of
    the texture coordinates of the objects that use the material."""
    surface = _surface(material)
    if slot not in INPUTS:
        raise HostError(
            f"a picture can't drive {slot} in OpenUSD's preview surface, but can drive opacity and"
            " roughness"
        )
    name, kind, part = INPUTS[slot]
    if texture is None:
        if surface.GetInput(name):
            disconnect(surface.GetInput(name))
            if slot == "normal":
                surface.GetPrim().RemoveProperty(f"inputs:{name}")
        return
    if Path(texture.path).suffix.lower() not in _PICTURES:
        raise HostError(
            f"OpenUSD can't read '{Path(texture.path).name}'; its suffix must be one of "
            f"{', '.join(_PICTURES)}"
        )
    stage, above = material.GetPrim().GetStage(), material.GetPath()
    picture = _shader(stage, above.AppendChild(f"{slot}_texture"), "UsdUVTexture")
    reader = _shader(stage, above.AppendChild(f"{slot}_uvs"), "UsdPrimvarReader_float2")
    placed = _shader(stage, above.AppendChild(f"{slot}_transform"), "UsdTransform2d")
    reader.CreateInput("varname", _TYPES.String).Set(uvs or _UVS)
    placed.CreateInput("in", _TYPES.Float2).ConnectToSource(
        reader.CreateOutput("result", _TYPES.Float2)
    )
    placed.CreateInput("scale", _TYPES.Float2).Set(Gf.Vec2f(*texture.uv_scale))
    picture.CreateInput("st", _TYPES.Float2).ConnectToSource(
        placed.CreateOutput("result", _TYPES.Float2)
    )
    picture.CreateInput("file", _TYPES.Asset).Set(Sdf.AssetPath(asset))
    picture.CreateInput("sourceColorSpace", _TYPES.Token).Set(_COLOR_SPACES[texture.color_space])
    for wrap in ("wrapS", "wrapT"):
        picture.CreateInput(wrap, _TYPES.Token).Set("repeat")
    # A normal map's numbers, 0 to 1, are directions from -1 to 1.
    for key, value in (("scale", (2, 2, 2, 1)), ("bias", (-1, -1, -1, 0))):
        if slot == "normal":
            picture.CreateInput(key, _TYPES.Float4).Set(Gf.Vec4f(*value))
        elif picture.GetInput(key):
            picture.GetPrim().RemoveProperty(f"inputs:{key}")
    part = texture.channel or part
    vector = part == "rgb"
    output = picture.CreateOutput(part, _TYPES.Float3 if vector else _TYPES.Float)
    surface.CreateInput(name, kind).ConnectToSource(output)
    if slot == "opacity" and not surface.GetInput("opacityMode"):
        surface.CreateInput("opacityMode", _TYPES.Token).Set("presence")


def _surface(material: UsdShade.Material) -> UsdShade.Shader:
    surface = material.ComputeSurfaceSource()[0]
    kind = str(surface.GetShaderId()) if surface else "no surface"
    if kind != "UsdPreviewSurface":
        raise HostError(
            f"'{material.GetPrim().GetName()}' has {kind or 'an unknown surface'}, not a"
            " UsdPreviewSurface; make another material with materials__create"
        )
    return surface


def _shader(stage: Usd.Stage, path: Sdf.Path, kind: str) -> UsdShade.Shader:
    shader = UsdShade.Shader.Define(stage, path)
    shader.CreateIdAttr(kind)
    return shader


def _input(surface: UsdShade.Shader, name: str) -> tuple[Any, Json | None]:
    """Return the input's value and None, or None and the texture that drives the input. Both may
    come from anywhere in the network."""
    driven = surface.GetInput(name)
    if not driven:
        return None, None
    for attribute in UsdShade.Utils.GetValueProducingAttributes(driven):
        if UsdShade.Utils.GetType(attribute.GetName()) == UsdShade.AttributeType.Output:
            return None, _texture(attribute)
        return attribute.Get(TIME), None
    return (None, None) if not driven.HasConnectedSource() else (None, _unknown())


def _texture(output: Usd.Attribute) -> Json:
    shader = UsdShade.Shader(output.GetPrim())
    if shader.GetShaderId() != "UsdUVTexture":
        return _unknown()
    file, _ = _input(shader, "file")
    space, _ = _input(shader, "sourceColorSpace")
    part = output.GetName().rsplit(":", 1)[-1]
    return {
        "path": (file.resolvedPath or file.path) if file else None,
        "color_space": {"sRGB": "srgb", "raw": "raw"}.get(space, "auto"),
        "uv_scale": _uv_scale(shader),
        "channel": part if part in ("r", "g", "b", "a") else None,
    }


def _unknown() -> Json:
    return {"path": None, "color_space": None, "uv_scale": None, "channel": None}


def _uv_scale(picture: UsdShade.Shader) -> list[float]:
    driven = picture.GetInput("st")
    for attribute in UsdShade.Utils.GetValueProducingAttributes(driven) if driven else ():
        before = UsdShade.Shader(attribute.GetPrim())
        if before and before.GetShaderId() == "UsdTransform2d":
            scale, _ = _input(before, "scale")
            return [float(c) for c in scale] if scale else [1.0, 1.0]
    return [1.0, 1.0]


def _set(surface: UsdShade.Shader, name: str, kind: Sdf.ValueTypeName, value: object) -> None:
    there = surface.CreateInput(name, kind)
    disconnect(there)
    set_lasting(there.GetAttr(), value)


def disconnect(there: UsdShade.Input) -> None:
    there.ClearSources()
    if there.HasConnectedSource():  # The connection is in a weaker layer.
        there.DisconnectSource()


def _reflected(ior: float) -> float:
    """Return the fraction of light that a surface reflects straight back."""
    return ((1 - ior) / (1 + ior)) ** 2


def _ior_of(reflected: float) -> float:
    root = sqrt(reflected)
    return (1 + root) / (1 - root)
