"""The facts about a saved scene, read by the application's own library, without callboard.

    python benchmarks/tasks/facts.py (openusd | blender) FILE

Prints one JSON object, with lengths in meters and Z up, whatever the file uses. ``low`` and
``high`` are the corners of an object's own shape in the world, or None if it has no shape.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from itertools import pairwise
from math import atan, degrees
from pathlib import Path
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
    facts: Facts = {
        "objects": {},
        "materials": {},
        "groups": {},
        "environment": None,
        "pictures": [],
    }
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
                "glow": max(values.get("emissiveColor") or (0.0,)),
                "textures": [each.GetBaseName() for each in inputs if each.HasConnectedSource()],
            }
        if (source := UsdShade.Shader(prim).GetInput("file")) and (picture := source.Get()):
            facts["pictures"].append(Path(picture.path).name)
        if (
            prim.IsA(UsdLux.DomeLight)
            and UsdGeom.Imageable(prim).ComputeVisibility() != "invisible"
        ):
            dome = UsdLux.DomeLight(prim)
            picture = dome.GetTextureFileAttr().Get()
            facts["environment"] = {
                "picture": Path(picture.path).name if picture else None,
                "strength": dome.GetIntensityAttr().Get(),
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
        if name in facts["objects"]:  # below another parent
            name = f"{name} of {prim.GetParent().GetPath()}"
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
            "tint": _tint_of_usd(UsdLux.LightAPI(prim)) if lit else None,
            "scale": [round(matrix.GetRow3(row).GetLength(), 5) for row in range(3)],
            **_mesh_of_usd(prim, matrix, unit),
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


def _mesh_of_usd(prim: Any, matrix: Any, unit: float) -> Facts:
    """Return the faces, UVs and volume in cubic meters, which is negative if faces point
    inwards."""
    from pxr import UsdGeom

    mesh = UsdGeom.Mesh(prim)
    if not mesh:
        return {"faces": None, "uvs": False, "volume": None}
    points = [matrix.Transform(point) * unit for point in mesh.GetPointsAttr().Get()]
    counts, corners = mesh.GetFaceVertexCountsAttr().Get(), mesh.GetFaceVertexIndicesAttr().Get()
    volume, at = 0.0, 0
    for count in counts:
        first, *rest = (points[corner] for corner in corners[at : at + count])
        volume += sum(first * (a ^ b) for a, b in pairwise(rest)) / 6
        at += count
    if mesh.GetOrientationAttr().Get() == "leftHanded":
        volume = -volume
    uvs = UsdGeom.PrimvarsAPI(prim).GetPrimvar("st")
    return {"faces": len(counts), "uvs": bool(uvs and uvs.HasValue()), "volume": volume}


def _tint_of_usd(light: Any) -> list[float]:
    from pxr import UsdLux

    warmth = light.GetEnableColorTemperatureAttr().Get()
    color = light.GetColorAttr().Get()
    if warmth:
        kelvin = light.GetColorTemperatureAttr().Get()
        warm = UsdLux.BlackbodyTemperatureAsRgb(kelvin)
        color = [a * b for a, b in zip(color, warm, strict=True)]
    return [*color]


def of_blend(file: str) -> Facts:
    import bpy
    from mathutils import Vector

    bpy.ops.wm.open_mainfile(filepath=file, load_ui=False, use_scripts=False)
    scene = bpy.context.scene
    scene.frame_set(scene.frame_start)
    unit = scene.unit_settings.scale_length
    facts: Facts = {
        "objects": {},
        "materials": {},
        "groups": {},
        "environment": None,
        "pictures": [],
    }
    if scene.world is not None and scene.world.node_tree is not None:
        facts["environment"] = _environment_of(scene.world.node_tree.nodes)
    used = [each.filepath for each in bpy.data.images if each.users and each.filepath]
    facts["pictures"] = [Path(bpy.path.abspath(path)).name for path in used]
    for material in bpy.data.materials:
        nodes = material.node_tree.nodes if material.node_tree else []
        for shader in (node for node in nodes if node.type == "BSDF_PRINCIPLED"):
            inputs = shader.inputs
            facts["materials"][material.name] = {
                "color": [round(part, 4) for part in inputs["Base Color"].default_value[:3]],
                "metalness": inputs["Metallic"].default_value,
                "roughness": inputs["Roughness"].default_value,
                "glow": max(inputs["Emission Color"].default_value[:3])
                * inputs["Emission Strength"].default_value,
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
            "tint": _tint_of(obj.data) if lit else None,
            "scale": [round(part, 5) for part in obj.matrix_world.to_scale()],
            **(_mesh_of(obj, unit) if axes else {"faces": None, "uvs": False, "volume": None}),
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


def _mesh_of(obj: Any, unit: float) -> Facts:
    """Return the facts about a mesh as displayed, after its modifiers."""
    import bmesh
    import bpy

    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh, building = shown.to_mesh(), bmesh.new()
    building.from_mesh(mesh)
    building.transform(obj.matrix_world)
    volume = building.calc_volume(signed=True) * unit**3
    slots = [each.name if each else "" for each in mesh.materials] or [""]
    facts = {
        "faces": len(mesh.polygons),
        "faces_of": Counter(slots[face.material_index] for face in mesh.polygons),
        "uvs": bool(mesh.uv_layers),
        "volume": volume,
    }
    building.free()
    shown.to_mesh_clear()
    return facts


def _tint_of(light: Any) -> list[float]:
    color = [*light.color]
    if getattr(light, "use_temperature", False):  # since 4.5
        color = [a * b for a, b in zip(color, light.temperature_color, strict=True)]
    return color


def _environment_of(nodes: Any) -> Facts:
    pictures = [node.image.name for node in nodes if node.type == "TEX_ENVIRONMENT" and node.image]
    shine = [node.inputs["Strength"].default_value for node in nodes if node.type == "BACKGROUND"]
    return {"picture": (pictures or [None])[0], "strength": (shine or [0.0])[0]}


if __name__ == "__main__":
    told = {"openusd": of_usd, "blender": of_blend}[sys.argv[1]](sys.argv[2])
    print(json.dumps(told, default=str), flush=True)
    # Blender's module sometimes hangs in its destructors.
    os._exit(0)
