"""Reads an object's details besides its transform: material, lens, power and time samples."""

from __future__ import annotations

from pxr import Usd, UsdGeom, UsdLux, UsdShade

from callboard.host import MOST_KEYS, Json
from callboard_openusd.parts.transforms import TIME


def details(prim: Usd.Prim) -> Json:
    reported: Json = {}
    if prim.IsA(UsdGeom.Imageable):
        subsets = (
            each.GetPrim() for each in UsdGeom.Subset.GetAllGeomSubsets(UsdGeom.Imageable(prim))
        )
        bound = (
            UsdShade.MaterialBindingAPI(each).ComputeBoundMaterial()[0] for each in (prim, *subsets)
        )
        materials = [str(material.GetPath()) for material in bound if material]
        if materials:
            reported["materials"] = list(dict.fromkeys(materials))
    scheme = prim.GetAttribute("subdivisionScheme")
    if scheme and scheme.HasAuthoredValue() and scheme.Get() != "none":
        reported["modifiers"] = [{"name": scheme.GetName(), "type": scheme.Get(), "shown": True}]
    if prim.IsA(UsdGeom.Mesh):
        reported["faces"] = len(UsdGeom.Mesh(prim).GetFaceVertexCountsAttr().Get(TIME) or ())
    if prim.IsA(UsdGeom.Camera):
        stage = prim.GetStage()
        tenth = 100 * UsdGeom.GetStageMetersPerUnit(stage)
        reported["lens"] = UsdGeom.Camera(prim).GetCamera(TIME).focalLength * tenth
    if prim.HasAPI(UsdLux.LightAPI):
        reported["intensity"] = UsdLux.LightAPI(prim).GetIntensityAttr().Get(TIME)
    if prim.IsA(UsdGeom.Xformable):
        frames = UsdGeom.Xformable(prim).GetTimeSamples()
        if frames:
            reported["keys"] = list(frames)[:MOST_KEYS]
            reported["key_count"] = len(frames)
    return reported
