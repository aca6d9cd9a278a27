"""Scenes for the table of transfers, made and measured by plain ``pxr`` or ``bpy``, without
callboard: ``transfer_scenes.py make|measure usd|blend FILE``. The file is a list of cases, or of
scenes' paths; ``measure`` prints each scene's objects, in meters with Y up."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

METRES = {"cm": 0.01, "m": 1.0, "inch": 0.0254}
#: The times at which moving objects are measured.
SECONDS = (0.25, 0.5, 1.0)
CUBE = [(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
PATH = [(0.0, 0.0, 0.0), (1.0, 0.5, 0.0), (1.5, 2.0, 0.5), (3.0, 2.0, 1.0)]
PLACE, TURN, SIZE = (1.0, 2.0, 3.0), (20.0, 30.0, 40.0), (1.0, 0.5, 2.0)


def boxed(points: Iterable[Any]) -> list[list[float]] | None:
    axes = list(zip(*points, strict=True))
    return [[min(a) for a in axes], [max(a) for a in axes]] if axes else None


def cornered(points: Iterable[Any]) -> list[Any]:
    """Return the corners of the box around points in an object's own space."""
    axes = boxed(points)
    return list(product(*zip(*axes, strict=True))) if axes else []


# -- OpenUSD ----------------------------------------------------------------------------------


def make_usd(case: Any) -> None:
    from pxr import Gf, Sdf, Usd, UsdGeom, UsdLux, UsdShade

    unit = METRES[case["unit"]]
    stage = Usd.Stage.CreateNew(case["path"])
    UsdGeom.SetStageMetersPerUnit(stage, unit)
    UsdGeom.SetStageUpAxis(stage, case["up"])
    stage.SetTimeCodesPerSecond(24)
    if case["root"] == "/World":
        UsdGeom.Xform.Define(stage, "/World")
    elif case["root"] == "generated":
        top = UsdGeom.Xform.Define(stage, "/root")
        top.GetPrim().SetCustomDataByKey("Blender:generated", True)
    elif case["root"] == "/Set/Geo":
        placed(UsdGeom.Xform.Define(stage, "/Set"), unit, (0.5, 0, 0), (0, 30, 0), (2, 2, 2))
        UsdGeom.Xform.Define(stage, "/Set/Geo")
    if case["content"] == "nothing":
        stage.Save()
        return
    home = {"/": "", "generated": "/root"}.get(case["root"], case["root"])
    path = Sdf.Path(f"{home}/{case['name']}")

    def mesh(at: Sdf.Path, scheme: str = "none") -> Any:
        made = UsdGeom.Mesh.Define(stage, at)
        made.CreatePointsAttr([Gf.Vec3f(*(v / unit for v in p)) for p in CUBE])
        made.CreateFaceVertexCountsAttr([4] * 6)
        made.CreateFaceVertexIndicesAttr([i for face in FACES for i in face])
        made.CreateSubdivisionSchemeAttr(scheme)
        return made

    content = case["content"]
    if content in ("box", "subdivision", "mirrored", "texture"):
        made = mesh(path, "catmullClark" if content == "subdivision" else "none")
        placed(made, unit, size=(-1.0, 0.5, 2.0) if content == "mirrored" else SIZE)
        if content == "texture":
            material = UsdShade.Material.Define(stage, path.GetParentPath().AppendChild("Paint"))
            shader = UsdShade.Shader.Define(stage, material.GetPath().AppendChild("Surface"))
            shader.CreateIdAttr("UsdPreviewSurface")
            picture = UsdShade.Shader.Define(stage, material.GetPath().AppendChild("Picture"))
            picture.CreateIdAttr("UsdUVTexture")
            picture.CreateInput("file", Sdf.ValueTypeNames.Asset).Set(case["picture"])
            picture.CreateOutput("rgb", Sdf.ValueTypeNames.Float3)
            shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).ConnectToSource(
                picture.ConnectableAPI(), "rgb"
            )
            shader.CreateOutput("surface", Sdf.ValueTypeNames.Token)
            material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
            UsdShade.MaterialBindingAPI.Apply(made.GetPrim()).Bind(material)
    elif content == "sheared":
        sheared = Gf.Matrix4d(1)
        sheared.SetRow(1, Gf.Vec4d(0.7, 1, 0, 0))
        sheared.SetTranslateOnly(Gf.Vec3d(*(v / unit for v in PLACE)))
        mesh(path).AddTransformOp().Set(sheared)
    elif content == "pivot":
        made = mesh(path)
        made.AddTranslateOp().Set(Gf.Vec3d(*(v / unit for v in PLACE)))
        pivot = [v / unit for v in (0.5, -0.5, 1.0)]
        made.AddTranslateOp(opSuffix="pivot").Set(Gf.Vec3d(*pivot))
        made.AddRotateYOp().Set(40)
        made.AddTranslateOp(opSuffix="pivot", isInverseOp=True)
    elif content == "parents":
        placed(UsdGeom.Xform.Define(stage, path), unit)
        inner = UsdGeom.Xform.Define(stage, path.AppendChild("Arm"))
        placed(inner, unit, (0, 2, 0), (0, 0, 90), (0.5, 0.5, 0.5))
        placed(mesh(path.AppendPath("Arm/Hand")), unit, (1, 0, 0), (0, 0, 0), (1, 2, 1))
    elif content == "primitives":
        placed(UsdGeom.Xform.Define(stage, path), unit, turn=(0, 90, 0), size=(1, 1, 1))
        UsdGeom.Cube.Define(stage, path.AppendChild("Cube")).CreateSizeAttr(1 / unit)
        for at, kind in enumerate((UsdGeom.Sphere, UsdGeom.Cylinder, UsdGeom.Cone)):
            made = kind.Define(stage, path.AppendChild(kind.__name__))
            made.CreateRadiusAttr(0.5 / unit)
            if kind is not UsdGeom.Sphere:
                made.CreateHeightAttr(2 / unit)
            placed(made, unit, (at * 2.0 + 2, 0, 0), (0, 0, 0), (1, 1, 1))
    elif content == "camera":
        made = UsdGeom.Camera.Define(stage, path)
        made.CreateFocalLengthAttr(0.035 / unit * 10)
        made.CreateHorizontalApertureAttr(0.036 / unit * 10)
        placed(made, unit, size=(1, 1, 1))
    elif content == "light":
        made = UsdLux.RectLight.Define(stage, path)
        made.CreateWidthAttr(1 / unit)
        made.CreateHeightAttr(2 / unit)
        made.CreateIntensityAttr(10)
        placed(made, unit, size=(1, 1, 1))
    elif content == "curve":
        made = UsdGeom.BasisCurves.Define(stage, path)
        made.CreateTypeAttr("linear")
        made.CreatePointsAttr([Gf.Vec3f(*(v / unit for v in p)) for p in PATH])
        made.CreateCurveVertexCountsAttr([len(PATH)])
        made.CreateWidthsAttr([0.2 / unit] * len(PATH))
        made.SetWidthsInterpolation("vertex")
        placed(made, unit)
    elif content == "text":  # OpenUSD has no text, so points are used.
        made = UsdGeom.Points.Define(stage, path)
        made.CreatePointsAttr([Gf.Vec3f(*(v / unit for v in p)) for p in PATH])
        made.CreateWidthsAttr([0.2 / unit] * len(PATH))
        placed(made, unit)
    elif content == "animated":
        made = mesh(path)
        moved, turned = made.AddTranslateOp(), made.AddRotateYOp()
        for code in range(0, 25, 2):
            moved.Set(Gf.Vec3d(code / 10 / unit, math.sin(code) / unit, 1 / unit), code)
            turned.Set(code * 3.0, code)
    elif content == "instances":
        mesh(Sdf.Path("/Original/Part"))
        stage.GetPrimAtPath("/Original").SetSpecifier(Sdf.SpecifierClass)
        placed(UsdGeom.Xform.Define(stage, path), unit, size=(1, 1, 1))
        for at in range(2):
            made = UsdGeom.Xform.Define(stage, path.AppendChild(f"Copy{at}"))
            made.GetPrim().GetReferences().AddInternalReference("/Original")
            made.GetPrim().SetInstanceable(True)
            placed(made, unit, (at * 3.0, 0, 1), (0, 45 * at, 0), (1, 1, 1))
    stage.Save()


def placed(made: Any, unit: float, at: Any = PLACE, turn: Any = TURN, size: Any = SIZE) -> None:
    made.AddTranslateOp().Set(tuple(v / unit for v in at))
    made.AddRotateXYZOp().Set(turn)
    made.AddScaleOp().Set(size)


def measure_usd(path: str) -> dict[str, Any]:
    from pxr import Gf, Usd, UsdGeom, UsdLux

    stage = Usd.Stage.Open(path)
    unit, rate = UsdGeom.GetStageMetersPerUnit(stage), stage.GetTimeCodesPerSecond()
    upright = Gf.Matrix4d(1)
    if UsdGeom.GetStageUpAxis(stage) == "Z":
        upright.SetRotate(Gf.Rotation(Gf.Vec3d.XAxis(), -90))
    metres = upright * Gf.Matrix4d().SetScale(unit)

    def corners(prim: Any, time: float) -> Any:
        shape = UsdGeom.PointBased(prim)
        if shape:
            return cornered(shape.GetPointsAttr().Get(time) or [])
        if prim.IsA(UsdGeom.Gprim):
            return cornered(
                UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(prim), time)
            )
        return []

    measured: dict[str, Any] = {}
    each = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), each):
        if not prim.IsA(UsdGeom.Xformable):
            continue
        facts: dict[str, Any] = {"at": []}
        for second in SECONDS:
            time = second * rate
            cache = UsdGeom.XformCache(time)
            world = cache.GetLocalToWorldTransform(prim) * metres
            box = boxed(
                (cache.GetLocalToWorldTransform(one) * metres).Transform(Gf.Vec3d(*corner))
                for one in Usd.PrimRange(prim, each)
                for corner in corners(one, time)
            )
            facts["at"].append({"place": list(world.ExtractTranslation()), "box": box})
            if prim.IsA(UsdGeom.Camera) or prim.HasAPI(UsdLux.LightAPI):
                looks = world.TransformDir(Gf.Vec3d(0, 0, -1)).GetNormalized()
                facts["at"][-1]["looks"] = list(looks)
        if prim.IsA(UsdGeom.Camera):
            lens = UsdGeom.Camera(prim)
            opening = lens.GetHorizontalApertureAttr().Get()
            facts["fov"] = 2 * math.atan(opening / 2 / lens.GetFocalLengthAttr().Get())
        if prim.IsA(UsdLux.RectLight):
            light = UsdLux.RectLight(prim)
            axes = [world.GetRow3(i).GetLength() for i in range(2)]
            facts["light"] = [
                light.GetWidthAttr().Get() * axes[0],
                light.GetHeightAttr().Get() * axes[1],
            ]
        if prim.IsA(UsdGeom.Curves):
            widths = UsdGeom.Curves(prim).GetWidthsAttr().Get() or [0]
            facts["thick"] = max(widths) * world.GetRow3(0).GetLength()
        if prim.IsA(UsdGeom.Mesh):
            scheme = UsdGeom.Mesh(prim).GetSubdivisionSchemeAttr()
            facts["smooth"] = scheme.HasAuthoredValue() and scheme.Get() != "none"
        measured[str(prim.GetPath())] = facts
    for path in sorted(measured, reverse=True):  # An object may be its transform's only child.
        above = measured.get(path.rpartition("/")[0])
        if above is not None:
            above.update({k: v for k, v in measured[path].items() if k not in above})
            for at, mine in zip(above["at"], measured[path]["at"], strict=True):
                at.update({k: v for k, v in mine.items() if k not in at})
    return measured


# -- Blender ----------------------------------------------------------------------------------


def make_blend(case: Any) -> None:
    import bpy
    from mathutils import Euler, Matrix

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene, unit = bpy.context.scene, METRES[case["unit"]]
    scene.unit_settings.scale_length = unit
    scene.render.fps, scene.frame_start, scene.frame_end = 24, 0, 24

    def add(name: str, data: Any, parent: Any = None, at: Any = PLACE, **more: Any) -> Any:
        made = bpy.data.objects.new(name, data)
        scene.collection.objects.link(made)
        made.parent = parent
        made.location = [v / unit for v in at]
        made.rotation_euler = [math.radians(v) for v in more.get("turn", TURN)]
        made.scale = more.get("size", SIZE)
        return made

    def mesh() -> Any:
        made = bpy.data.meshes.new("Shape")
        made.from_pydata([[v / unit for v in p] for p in CUBE], [], FACES)
        return made

    above = None
    if case["root"] != "/":
        still = {"turn": (0, 0, 0), "size": (1, 1, 1)}
        for name in {"/World": ["World"], "/Set/Geo": ["Set", "Geo"]}.get(case["root"], ["root"]):
            above = add(name, None, above, (0, 0, 0), **still)
            if name == "Set":
                above.rotation_euler, above.scale = (0, 0, 0.5), (2, 2, 2)
    name, content = case["name"], case["content"]
    if content == "nothing":
        pass
    elif content in ("box", "subdivision", "mirrored", "texture", "pivot", "sheared"):
        size = (-1.0, 0.5, 2.0) if content == "mirrored" else SIZE
        made = add(name, mesh(), above, size=size)
        if content == "subdivision":
            made.modifiers.new("Smooth", "SUBSURF").levels = 2
        if content == "texture":
            paint = bpy.data.materials.new("Paint")
            paint.use_nodes = True
            nodes = paint.node_tree
            picture = nodes.nodes.new("ShaderNodeTexImage")
            picture.image = bpy.data.images.load(case["picture"])
            shader = nodes.nodes["Principled BSDF"]
            nodes.links.new(picture.outputs["Color"], shader.inputs["Base Color"])
            made.data.materials.append(paint)
        if content == "pivot":
            made.delta_location, made.delta_rotation_euler = (0.5 / unit, 0, 0), (0, 0.3, 0)
        if content == "sheared":
            inner = add(f"{name} inside", mesh(), made, (2, 0, 0), turn=(0, 50, 20), size=(1, 1, 1))
            inner.matrix_parent_inverse = Matrix.Translation([0, 1 / unit, 0])
    elif content == "parents":
        top = add(name, None, above)
        arm = add(f"{name} arm", None, top, (0, 2, 0), turn=(0, 0, 90), size=(0.5, 0.5, 0.5))
        hand = add(f"{name} hand", mesh(), arm, (1, 0, 0), turn=(0, 0, 0), size=(1, 2, 1))
        hand.matrix_parent_inverse = Matrix.Translation([0, 1 / unit, 0])
    elif content == "primitives":
        for at, kind in enumerate(("uv_sphere", "cone", "torus", "cylinder")):
            operator = getattr(bpy.ops.mesh, f"primitive_{kind}_add")
            operator(location=(at * 3 / unit, 0, 0))
            made = bpy.context.object
            made.name, made.parent, made.scale = f"{name} {kind}", above, [1 / unit] * 3
    elif content == "camera":
        data = bpy.data.cameras.new("Lens")
        data.lens, data.sensor_width = 35, 36
        add(name, data, above, size=(1, 1, 1))
    elif content == "light":
        data = bpy.data.lights.new("Lamp", "AREA")
        data.shape, data.size, data.size_y, data.energy = "RECTANGLE", 1 / unit, 2 / unit, 10
        add(name, data, above, size=(1, 1, 1))
    elif content == "curve":
        data = bpy.data.curves.new("Path", "CURVE")
        data.dimensions, data.bevel_depth = "3D", 0.1 / unit
        line = data.splines.new("POLY")
        line.points.add(len(PATH) - 1)
        for at, point in enumerate(PATH):
            line.points[at].co = [*(v / unit for v in point), 1]
        add(name, data, above)
    elif content == "text":
        data = bpy.data.curves.new("Words", "FONT")
        data.body, data.size, data.extrude = "Ab", 1 / unit, 0.1 / unit
        add(name, data, above)
    elif content == "animated":
        made = add(name, mesh(), above, size=(1, 1, 1))
        for frame in range(0, 25, 2):
            made.location = (frame / 10 / unit, math.sin(frame) / unit, 1 / unit)
            made.rotation_euler = Euler((0, 0, math.radians(frame * 3)))
            made.keyframe_insert("location", frame=frame)
            made.keyframe_insert("rotation_euler", frame=frame)
        for curve in made.animation_data.action.fcurves:
            for key in curve.keyframe_points:
                key.interpolation = "LINEAR"
    elif content == "instances":
        shared = bpy.data.collections.new("Original")
        part = bpy.data.objects.new("Part", mesh())
        shared.objects.link(part)
        for at in range(2):
            more = {"turn": (0, 0, 45 * at), "size": (1, 1, 1)}
            made = add(f"{name} {at}", None, above, (at * 3, 0, 1), **more)
            made.instance_type, made.instance_collection = "COLLECTION", shared
    bpy.ops.wm.save_as_mainfile(filepath=case["path"], compress=False)


def measure_blend(path: str) -> dict[str, Any]:
    import bpy
    from mathutils import Matrix, Vector

    bpy.ops.wm.open_mainfile(filepath=path)
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    metres = Matrix.Scale(scene.unit_settings.scale_length, 4) @ Matrix.Rotation(
        -math.pi / 2, 4, "X"
    )
    smooth = set()
    for obj in scene.objects:
        for modifier in obj.modifiers:
            if modifier.type == "SUBSURF":
                smooth.add(obj.name)
                modifier.show_viewport = False

    def points(obj: Any) -> Iterator[Any]:
        if obj.type in ("MESH", "FONT"):
            shape = obj.to_mesh()
            yield from [tuple(vertex.co) for vertex in shape.vertices]
            obj.to_mesh_clear()
        elif obj.type == "CURVE":
            for spline in obj.data.splines:
                yield from (Vector(p.co[:3]) for p in (*spline.points, *spline.bezier_points))
        elif obj.type in ("CURVES", "POINTCLOUD"):
            yield from (Vector(each.vector) for each in obj.data.attributes["position"].data)

    measured: dict[str, Any] = {obj.name: {"at": []} for obj in scene.objects}
    for second in SECONDS:
        frame = second * rate
        scene.frame_set(int(frame), subframe=frame - int(frame))
        graph = bpy.context.evaluated_depsgraph_get()
        own: dict[str, list[Any]] = {}
        for each in graph.object_instances:
            if each.is_instance and each.parent.type == "CURVE":
                # The bevel made these points. Points and thickness are measured.
                continue
            holder = each.parent.original.name if each.is_instance else each.object.original.name
            world = metres @ each.matrix_world
            own.setdefault(holder, []).extend(
                tuple(world @ Vector(corner)) for corner in cornered(points(each.object))
            )
        for obj in scene.objects:
            world = metres @ obj.evaluated_get(graph).matrix_world
            below = [obj, *obj.children_recursive]
            box = boxed(point for one in below for point in own.get(one.name, ()))
            measured[obj.name]["at"].append({"place": list(world.translation), "box": box})
            if obj.type in ("CAMERA", "LIGHT"):
                looks = (world.to_3x3() @ Vector((0, 0, -1))).normalized()
                measured[obj.name]["at"][-1]["looks"] = list(looks)
            if obj.type == "CAMERA":
                data = obj.data
                measured[obj.name]["fov"] = 2 * math.atan(data.sensor_width / 2 / data.lens)
            if obj.type == "LIGHT" and obj.data.type == "AREA":
                size = [obj.data.size, obj.data.size_y]
                axes = [world.col[i].to_3d().length for i in range(2)]
                measured[obj.name]["light"] = [a * b for a, b in zip(size, axes, strict=True)]
            if obj.type == "CURVE":
                thick = 2 * obj.data.bevel_depth * world.col[0].to_3d().length
                measured[obj.name]["thick"] = thick
            if obj.type == "MESH":
                measured[obj.name]["smooth"] = obj.name in smooth
    return measured


def main() -> None:
    doing, kind, listed = sys.argv[1:4]
    work = globals()[f"{doing}_{kind}"]
    done = [work(each) for each in json.loads(Path(listed).read_text("utf-8"))]
    Path(listed).with_suffix(".out").write_text(json.dumps(done), "utf-8")


if __name__ == "__main__":
    main()
