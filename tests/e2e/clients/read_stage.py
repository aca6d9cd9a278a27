"""Prints the contents of a USD file, as pxr reads it: prims, local transforms, bound colors.

read_stage.py FILE
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pxr import Gf, Usd, UsdGeom, UsdShade


def colour(prim: Usd.Prim) -> list[float] | None:
    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    if not material:
        return None
    surface = material.ComputeSurfaceSource()[0]
    return [round(value, 4) for value in surface.GetInput("diffuseColor").Get()]


def placement(prim: Usd.Prim) -> list[float]:
    matrix = UsdGeom.Xformable(prim).GetLocalTransformation()
    return [round(value, 4) + 0.0 for row in Gf.Matrix4d(matrix) for value in row]


def describe(prim: Usd.Prim) -> dict[str, Any]:
    facts: dict[str, Any] = {"type": prim.GetTypeName()}
    if prim.IsA(UsdGeom.Xformable):
        facts["matrix"] = placement(prim)
    if prim.IsA(UsdGeom.Gprim):
        facts["colour"] = colour(prim)
    return facts


stage = Usd.Stage.Open(sys.argv[1])
print(
    json.dumps(
        {
            "prims": {str(prim.GetPath()): describe(prim) for prim in stage.Traverse()},
            "up": UsdGeom.GetStageUpAxis(stage),
            "unit": UsdGeom.GetStageMetersPerUnit(stage),
        }
    )
)
