"""The cost of a scene's size on OpenUSD stages, compared with plain ``pxr``.

Each tool runs on stages of 100 to 100,000 prims. Its time is shown next to the time that plain
``pxr`` takes for the same change.

    python benchmarks/scenes_openusd.py [--prims 100 1000 10000 100000] [--cpu] [--json]

A change's time covers the port, reading the object back and one undo step, on the host's thread.
Times are medians in milliseconds. ``--cpu`` counts the thread's busy time, for a machine that is
doing other work as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade
from stopwatch import Row, program, several, slices, timed

from callboard.host import FILESYSTEM_WRITE, SCENE_MUTATE, SCENE_READ, USD
from callboard_openusd.host import OpenUsdHost
from callboard_testing.direct_calls import DirectCaller

#: Number of prims below one group.
GROUP = 100


def write_scene(path: str, prims: int) -> None:
    """Write groups of cubes, each with a transform."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.defaultPrim = "World"
    world = Sdf.PrimSpec(layer, "World", Sdf.SpecifierDef, "Xform")
    with Sdf.ChangeBlock():
        for number in range(prims):
            if number % GROUP == 0:
                group = Sdf.PrimSpec(world, f"G{number // GROUP}", Sdf.SpecifierDef, "Xform")
            cube = Sdf.PrimSpec(group, f"P{number}", Sdf.SpecifierDef, "Cube")
            place = Sdf.AttributeSpec(cube, "xformOp:translate", Sdf.ValueTypeNames.Double3)
            place.default = Gf.Vec3d(number % 100, number // 100, 0)
            order = Sdf.AttributeSpec(
                cube, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform
            )
            order.default = ["xformOp:translate"]
    layer.Export(path)


class Plain:
    """The same changes with pxr alone, on prims that the tools don't change."""

    def __init__(self, path: str, prims: int) -> None:
        self.stage = Usd.Stage.Open(path)
        self.prims = prims

    def at(self, number: int) -> Usd.Prim:
        number = (number * 7 + 3) % self.prims
        return self.stage.GetPrimAtPath(f"/World/G{number // GROUP}/P{number}")

    def create(self, number: int) -> None:
        cube = UsdGeom.Cube.Define(self.stage, f"/World/New{number}")
        cube.CreateSizeAttr(2.0)
        extent = UsdGeom.Boundable.ComputeExtentFromPlugins(cube, Usd.TimeCode.Default())
        cube.CreateExtentAttr(extent)

    def transform(self, number: int) -> None:
        UsdGeom.XformCommonAPI(self.at(number)).SetTranslate(Gf.Vec3d(1, 2, number))

    def color(self, number: int) -> None:
        prim, rgb = self.at(number), Gf.Vec3f(1, 0, 0)
        material = UsdShade.Material.Define(self.stage, prim.GetPath().AppendChild("Look"))
        shader = UsdShade.Shader.Define(self.stage, material.GetPath().AppendChild("Surface"))
        shader.CreateIdAttr("UsdPreviewSurface")
        shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(rgb)
        material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
        UsdShade.MaterialBindingAPI.Apply(prim).Bind(material)
        UsdGeom.Gprim(prim).CreateDisplayColorAttr([rgb])

    def move(self, prim: Usd.Prim, path: Sdf.Path) -> None:
        editor = Usd.NamespaceEditor(self.stage)
        editor.MovePrimAtPath(prim.GetPath(), path)
        assert editor.ApplyEdits()

    def rename(self, number: int) -> None:
        prim = self.at(number)
        self.move(prim, prim.GetPath().ReplaceName(f"Renamed{number}"))

    def parent(self, number: int) -> None:
        prim = self.at(number + 20)
        self.move(prim, Sdf.Path(f"/World/G0/Moved{number}"))

    def duplicate(self, number: int) -> None:
        prim = self.at(number + 40)
        copy = prim.GetPath().ReplaceName(f"Copy{number}")
        Sdf.CopySpec(self.stage.GetRootLayer(), prim.GetPath(), self.stage.GetRootLayer(), copy)

    def delete(self, number: int) -> None:
        editor = Usd.NamespaceEditor(self.stage)
        editor.DeletePrimAtPath(self.at(number + 60).GetPath())
        assert editor.ApplyEdits()


def measured(prims: int, folder: Path) -> Iterator[Row]:
    """Yield the work, its time, and the time that plain pxr takes for it, if pxr can do it."""
    path, saved = str(folder / f"{prims}.usda"), str(folder / "saved.usda")
    write_scene(path, prims)
    Usd.Stage.Open(path)

    def open_plain() -> None:
        stage = Usd.Stage.Open(path)
        sum(1 for _ in stage.Traverse())

    host = OpenUsdHost(lambda fn: None)
    read: Any = host.ports[SCENE_READ]
    edit: Any = host.ports[SCENE_MUTATE]
    files: Any = host.ports[FILESYSTEM_WRITE]
    usd: Any = host.ports[USD]
    undo: Any = host.undo

    call = DirectCaller(host)

    def change(work: Callable[[], str]) -> None:
        token = undo.begin("change")
        read.get(work())
        undo.commit(token)

    yield "open", several(lambda _: files.open(path), 3), several(lambda _: open_plain(), 3)
    plain = Plain(path, prims)
    undo.commit(undo.begin("what is there is remembered"))
    yield "info", several(lambda _: read.info()), None
    yield "list 100", several(lambda _: list(read.summaries()[:100])), None
    yield "list the last 100", several(lambda _: list(read.summaries()[-100:])), None
    yield "get", several(lambda _: read.get(f"P{prims // 2}")), None
    call("scene__list_objects")
    for what, asked in {"type": "camera", "pattern": "*99"}.items():
        whole, longest = slices(call, "scene__list_objects", {what: asked})
        yield f"list by {what}", whole, None
        yield "its longest slice", longest, None

    def name(number: int) -> str:
        return f"P{(number * 7 + 3) % prims}"

    tools: dict[str, tuple[Callable[[int], str], Callable[[int], object]]] = {
        "create": (lambda n: edit.create("cube", None, {"size": 2.0}), plain.create),
        "transform": (
            lambda n: edit.set_transform(name(n), [1, 2, n], None, None),
            plain.transform,
        ),
        "colour": (lambda n: edit.set_color(name(n), [1, 0, 0]), plain.color),
        "rename": (lambda n: edit.rename(name(n), f"Renamed{n}"), plain.rename),
        "parent": (lambda n: edit.set_parent(name(n + 20), "G0", True), plain.parent),
        "duplicate": (lambda n: edit.duplicate(name(n + 40), None), plain.duplicate),
        # This reads one object too, because the tool reads the object that it deletes.
        "delete": (lambda n: edit.delete([name(n + 60)]) and name(n + 80), plain.delete),
    }
    for what, (ours, theirs) in tools.items():
        work = several(lambda n, ours=ours: change(lambda: ours(n)))
        yield what, work, several(theirs)
    yield "list 100 after changes", several(lambda _: list(read.summaries()[:100])), None
    token = undo.begin("rename")
    edit.rename(name(80), "Undone")
    undo_id = undo.commit(token)
    yield "undo a rename", timed(lambda: undo.undo(undo_id)), None
    root = plain.stage.GetRootLayer()
    yield (
        "save",
        several(lambda _: files.save(saved), 3),
        several(lambda _: root.Export(str(folder / "plain.usda")), 3),
    )
    yield (
        "export",
        timed(lambda: usd.export_usd(str(folder / "out.usdc"), False)),
        timed(lambda: plain.stage.Flatten(False).Export(str(folder / "plain.usdc"))),
    )


if __name__ == "__main__":
    sys.exit(program(__doc__, "prims", "pxr", [100, 1000, 10_000, 100_000], measured))
