"""Reads and sets an object's color. The color belongs to the object's own preview material, and is
also its display color, for programs that don't read materials. The material is below the object, so
that both are copied, renamed and deleted together. An instance's material is next to the
instance."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, Vt

from callboard.errors import HostError
from callboard.host import Vector
from callboard_openusd.parts.surfaces import disconnect
from callboard_openusd.parts.transforms import TIME

_NAME = "Look"
_SURFACE = "Surface"
_PURPOSES = (UsdShade.Tokens.allPurpose, UsdShade.Tokens.preview, UsdShade.Tokens.full)


def read_color(prim: Usd.Prim) -> list[float] | None:
    """Return linear RGB, or None when there is no single color."""
    own = _color_of(prim)
    parts = {tuple(_color_of(part) or ()) for part in _bound_parts(prim)}
    if not parts:
        return own
    # Faces with their own material hide the object's color.
    first = list(parts.pop())
    return first if first and not parts and own in (None, first) else None


def set_color(prim: Usd.Prim, color: Vector) -> None:
    if not prim.IsA(UsdGeom.Gprim) and prim.GetTypeName() not in ("Xform", "SkelRoot"):
        raise HostError(
            f"'{prim.GetName()}' is of type {str(prim.GetTypeName()).lower()}, which has no color"
        )
    rgb = Gf.Vec3f(*color)
    material = _own_material(prim)
    diffuse = UsdShade.Shader(material.ComputeSurfaceSource()[0]).CreateInput(
        "diffuseColor", Sdf.ValueTypeNames.Color3f
    )
    disconnect(diffuse)
    _set_lasting(prim, diffuse.GetAttr(), rgb)
    _show(prim, rgb)
    for part in _bound_parts(prim):
        UsdShade.MaterialBindingAPI(part).UnbindDirectBinding()
    for purpose in _PURPOSES:
        bound, binding = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial(purpose)
        if bound.GetPath() != material.GetPath():
            raise HostError(
                f"'{prim.GetName()}' can't have a color of its own: the binding"
                f" '{binding.GetPath()}' determines its material; change it there"
            )
    _refuse_unseen(prim, material)


def _refuse_unseen(prim: Usd.Prim, material: UsdShade.Material) -> None:
    """Raise HostError when objects below this one have their own materials, which would hide the
    color."""
    walk = Usd.PrimRange(prim, Usd.TraverseInstanceProxies())
    shapes = [below for below in walk if below.IsA(UsdGeom.Gprim) and below != prim]
    bound = UsdShade.MaterialBindingAPI.ComputeBoundMaterials(shapes)[0] if shapes else []
    others = [
        str(shape.GetPath())
        for shape, other in zip(shapes, bound, strict=True)
        if other.GetPath() != material.GetPath()
    ]
    if others:
        raise HostError(
            f"'{prim.GetName()}' can't be colored as a whole: {len(others)} of the {len(shapes)}"
            f" shapes below it have materials of their own; color them instead:"
            f" {', '.join(others[:5])}{' …' if len(others) > 5 else ''}"
        )


def _color_of(prim: Usd.Prim) -> list[float] | None:
    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    surface = material.ComputeSurfaceSource()[0] if material else None
    if surface and surface.GetShaderId() == "UsdPreviewSurface":
        diffuse = surface.GetInput("diffuseColor")
        if diffuse and diffuse.HasConnectedSource():
            return None
        if diffuse and (value := diffuse.Get(TIME)):
            return [float(c) for c in value]
    shown = UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance("displayColor")
    colors = shown.Get(TIME) if shown else None
    return [float(c) for c in colors[0]] if colors and len(colors) == 1 else None


def _bound_parts(prim: Usd.Prim) -> Iterator[Usd.Prim]:
    """Yield the groups of the object's faces that have their own material."""
    if not prim.IsA(UsdGeom.Gprim):
        return
    for subset in UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets():
        part = subset.GetPrim()
        if UsdShade.MaterialBindingAPI(part).GetDirectBinding().GetMaterial():
            yield part


def _show(prim: Usd.Prim, rgb: Gf.Vec3f) -> None:
    shown = UsdGeom.PrimvarsAPI(prim).CreatePrimvar(
        "displayColor", Sdf.ValueTypeNames.Color3fArray, UsdGeom.Tokens.constant
    )
    if shown.IsIndexed():
        shown.BlockIndices()
    _set_lasting(prim, shown.GetAttr(), Vt.Vec3fArray([rgb]))


def _set_lasting(prim: Usd.Prim, attribute: Usd.Attribute, value: object) -> None:
    """Set the value for all times. If there is a single time sample, change the sample, because it
    overrides the default."""
    samples = attribute.GetTimeSamples()
    if len(samples) > 1:
        raise HostError(f"the color of '{prim.GetName()}' is animated, so it was left as it is")
    attribute.Set(value, samples[0] if samples else Usd.TimeCode.Default())


def _own_material(prim: Usd.Prim) -> UsdShade.Material:
    stage, binding = prim.GetStage(), UsdShade.MaterialBindingAPI.Apply(prim)
    bound = binding.GetDirectBinding().GetMaterial()
    # An instance can't have children of its own, so its material is next to it.
    place = prim.GetPath().AppendChild(_NAME)
    if prim.IsInstance():
        place = prim.GetPath().ReplaceName(f"{prim.GetName()}_{_NAME}")
    if bound and _is_ours(bound, place):
        material = bound
    else:
        path, count = place, 0
        while stage.GetPrimAtPath(path):
            count += 1
            path = place.ReplaceName(f"{place.name}_{count}")
        material = UsdShade.Material.Define(stage, path)
    shader = UsdShade.Shader.Define(stage, material.GetPath().AppendChild(_SURFACE))
    shader.CreateIdAttr("UsdPreviewSurface")
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    for purpose in _PURPOSES:
        if purpose == UsdShade.Tokens.allPurpose:
            binding.Bind(material)
        elif binding.GetDirectBindingRel(purpose):
            binding.UnbindDirectBinding(purpose)
    return material


def _is_ours(material: UsdShade.Material, place: Sdf.Path) -> bool:
    path = material.GetPath()
    surface = material.ComputeSurfaceSource()[0]
    return (
        path.GetParentPath() == place.GetParentPath()
        and re.fullmatch(rf"{re.escape(place.name)}(_\d+)?", path.name) is not None
        and bool(surface)
        and surface.GetPath() == path.AppendChild(_SURFACE)
        and surface.GetShaderId() == "UsdPreviewSurface"
    )
