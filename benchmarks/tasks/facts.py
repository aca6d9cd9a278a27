"""What is in a saved scene, read by the application's own library, without callboard.

    python benchmarks/tasks/facts.py (openusd | blender) FILE

One JSON object: lengths in metres, Z up, whatever the file has. ``low`` and ``high`` are the
corners of an object's own shape in the world, None where it has none.
"""

from __future__ import annotations

import json
import os
import sys
from math import atan, degrees
from typing import Any

Facts = dict[str, Any]


def of_usd(file: str) -> Facts:
    from pxr import Usd, UsdGeom, UsdLux, UsdRender, UsdShade

    stage = Usd.Stage.Open(file)
    unit = UsdGeom.GetStageMetersPerUnit(stage)
    upright = UsdGeom.GetStageUpAxis(stage) == "Y"

    def placed(point: Any, factor: float = unit) -> list[float]:
        x, y, z = (float(value) * factor for value in point)
        return [x, -z, y] if upright else [x, y, z]

    boxes = UsdGeom.BBoxCache(Usd.TimeCode.EarliestTime(), ["default", "render"])
    settings = UsdRender.Settings.GetStageRenderSettings(stage)
    active = settings.GetCameraRel().GetTargets() if settings else []
    facts: Facts = {"unit": unit, "objects": {}, "materials": {}, "groups": {}}
    for prim in stage.Traverse():
        name = prim.GetName()
        if prim.IsA(UsdShade.Material):
            surface = UsdShade.Material(prim).ComputeSurfaceSource()[0]
            inputs = surface.GetInputs() if surface else []
            values = {each.GetBaseName(): each.Get() for each in inputs}
            facts["materials"][name] = {
                "color": [round(part, 4) for part in values.get("diffuseColor") or ()],
                "metalness": values.get("metallic", 0.0),
                "roughness": values.get("roughness", 0.5),
                "textures": [each.GetBaseName() for each in inputs if each.HasConnectedSource()],
            }
        if prim.HasAPI(Usd.CollectionAPI, "objects"):
            targets = Usd.CollectionAPI(prim, "objects").GetIncludesRel().GetTargets()
            facts["groups"][name] = [path.name for path in targets]
        if not prim.IsA(UsdGeom.Xformable) or str(prim.GetPath()) == "/World":
            continue
        matrix = UsdGeom.XformCache().GetLocalToWorldTransform(prim)
        box = boxes.ComputeWorldBound(prim).ComputeAlignedRange()
        shaped = prim.IsA(UsdGeom.Gprim) and not box.IsEmpty()
        corners = [placed(box.GetMin()), placed(box.GetMax())] if shaped else []
        low, high = (
            ([min(a, b) for a, b in zip(*corners, strict=True)], [*map(max, *corners)])
            if corners
            else (None, None)
        )
        bound = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
        lit = prim.HasAPI(UsdLux.LightAPI)
        facts["objects"][name] = {
            "type": str(prim.GetTypeName()).lower(),
            "parent": prim.GetParent().GetName(),
            "origin": placed(matrix.ExtractTranslation()),
            "low": low,
            "high": high,
            "mirrored": matrix.GetDeterminant3() < 0,
            "visible": UsdGeom.Imageable(prim).ComputeVisibility() != "invisible",
            "material": bound.GetPrim().GetName() if bound else None,
            "light": prim.GetTypeName()[: -len("Light")].lower() if lit else None,
            "power": UsdLux.LightAPI(prim).GetIntensityAttr().Get() if lit else None,
            "keys": UsdGeom.Xformable(prim).GetTimeSamples(),
            "custom": {
                each.GetName(): each.Get() for each in prim.GetAttributes() if each.IsCustom()
            },
        }
        if prim.IsA(UsdGeom.Camera):
            seen = UsdGeom.Camera(prim).GetCamera(Usd.TimeCode.EarliestTime())
            sides = (seen.horizontalAperture, seen.verticalAperture)
            facts["objects"][name]["camera"] = {
                "lens": seen.focalLength * unit * 100,
                "fstop": seen.fStop,
                "fov": [degrees(2 * atan(side / 2 / seen.focalLength)) for side in sides],
                "axes": [placed(matrix.GetRow3(row).GetNormalized(), 1.0) for row in range(3)],
                "active": prim.GetPath() in active,
            }
    return facts


def of_blend(file: str) -> Facts:
    import bpy
    from mathutils import Vector

    bpy.ops.wm.open_mainfile(filepath=file, load_ui=False, use_scripts=False)
    scene = bpy.context.scene
    scene.frame_set(scene.frame_start)
    unit = scene.unit_settings.scale_length
    facts: Facts = {"unit": unit, "objects": {}, "materials": {}, "groups": {}}
    for material in bpy.data.materials:
        nodes = material.node_tree.nodes if material.node_tree else []
        for shader in (node for node in nodes if node.type == "BSDF_PRINCIPLED"):
            inputs = shader.inputs
            facts["materials"][material.name] = {
                "color": [round(part, 4) for part in inputs["Base Color"].default_value[:3]],
                "metalness": inputs["Metallic"].default_value,
                "roughness": inputs["Roughness"].default_value,
                "textures": [each.name for each in inputs if each.is_linked],
            }
    for collection in scene.collection.children_recursive:
        facts["groups"][collection.name] = [obj.name for obj in collection.objects]
    for obj in scene.objects:
        corners = [obj.matrix_world @ Vector(corner) for corner in obj.bound_box]
        axes = [*zip(*corners, strict=True)] if obj.type in ("MESH", "FONT", "CURVE") else None
        data = obj.animation_data
        curves = data.action.fcurves if data and data.action else []
        lit = obj.type == "LIGHT"
        facts["objects"][obj.name] = {
            "type": obj.type.lower(),
            "parent": obj.parent.name if obj.parent else "",
            "origin": [part * unit for part in obj.matrix_world.translation],
            "low": axes and [min(axis) * unit for axis in axes],
            "high": axes and [max(axis) * unit for axis in axes],
            "mirrored": obj.matrix_world.determinant() < 0,
            "visible": obj.visible_get(),
            "material": obj.active_material.name if obj.active_material else None,
            "light": obj.data.type.lower() if lit else None,
            "power": obj.data.energy if lit else None,
            "keys": sorted({point.co.x for curve in curves for point in curve.keyframe_points}),
            "custom": {key: value for key, value in obj.items() if isinstance(value, (int, str))},
        }
        if obj.type == "CAMERA":
            frame = obj.data.view_frame(scene=scene)
            sides = [max(c[i] for c in frame) - min(c[i] for c in frame) for i in (0, 1)]
            facts["objects"][obj.name]["camera"] = {
                "lens": obj.data.lens,
                "fstop": obj.data.dof.aperture_fstop if obj.data.dof.use_dof else 0.0,
                "fov": [degrees(2 * atan(side / 2 / -frame[0].z)) for side in sides],
                "axes": [[*obj.matrix_world.col[n].to_3d().normalized()] for n in range(3)],
                "active": scene.camera == obj,
            }
    return facts


if __name__ == "__main__":
    told = {"openusd": of_usd, "blender": of_blend}[sys.argv[1]](sys.argv[2])
    print(json.dumps(told, default=str), flush=True)
    # In its destructors Blender's module now and then hangs.
    os._exit(0)
