"""An object's colour: a preview material of its own, below the object itself, so that it is
copied, renamed and deleted with it; and the display colour, for readers that look no further."""

from __future__ import annotations

from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, Vt

from callboard.errors import HostError
from callboard.host import Vector
from callboard_openusd.transforms import TIME

_NAME = "Look"


def read_color(prim: Usd.Prim) -> list[float] | None:
    """Linear RGB, or None where nothing says one colour."""
    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    surface = material.ComputeSurfaceSource()[0] if material else None
    if surface and surface.GetShaderId() == "UsdPreviewSurface":
        diffuse = surface.GetInput("diffuseColor")
        if diffuse and not diffuse.HasConnectedSource() and (value := diffuse.Get(TIME)):
            return [float(c) for c in value]
    shown = UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance("displayColor")
    colors = shown.Get(TIME) if shown else None
    return [float(c) for c in colors[0]] if colors and len(colors) == 1 else None


def set_color(prim: Usd.Prim, color: Vector) -> None:
    if not prim.IsA(UsdGeom.Gprim) and prim.GetTypeName() not in ("Xform", "SkelRoot"):
        raise HostError(
            f"'{prim.GetName()}' is a {str(prim.GetTypeName()).lower()}, which has no colour"
        )
    rgb = Gf.Vec3f(*color)
    shader = UsdShade.Shader(_own_material(prim).ComputeSurfaceSource()[0])
    shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(rgb)
    shown = UsdGeom.PrimvarsAPI(prim).CreatePrimvar(
        "displayColor", Sdf.ValueTypeNames.Color3fArray, UsdGeom.Tokens.constant
    )
    if shown.IsIndexed():
        shown.BlockIndices()
    shown.Set(Vt.Vec3fArray([rgb]))


def _own_material(prim: Usd.Prim) -> UsdShade.Material:
    binding = UsdShade.MaterialBindingAPI.Apply(prim)
    bound = binding.GetDirectBinding().GetMaterial()
    if bound and bound.GetPath().GetParentPath() == prim.GetPath():
        surface = bound.ComputeSurfaceSource()[0]
        if surface and surface.GetShaderId() == "UsdPreviewSurface":
            return bound
    path, count = prim.GetPath().AppendChild(_NAME), 0
    while prim.GetStage().GetPrimAtPath(path):
        count += 1
        path = prim.GetPath().AppendChild(f"{_NAME}_{count}")
    material = UsdShade.Material.Define(prim.GetStage(), path)
    shader = UsdShade.Shader.Define(prim.GetStage(), path.AppendChild("Surface"))
    shader.CreateIdAttr("UsdPreviewSurface")
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    binding.Bind(material)
    return material
