"""Tests shapes that Maya handles differently, on the double or, under mayapy, in Maya itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from maya import cmds
from maya_rig import maya_host, new_maya

from callboard.errors import HostError
from callboard.host import GEOMETRY, MATERIALS, STRUCTURE
from callboard_testing.compliance import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    new_maya(batch=True)
    with maya_host(lambda fn: None) as host:
        yield Bench(host, tmp_path.resolve())


def shape(bench: Bench, tool: str, name: str, **asked: Any) -> Any:
    return bench.call(f"geometry__{tool}", {"name": name, **asked})["shape"]


def referenced(bench: Bench) -> str:
    file = (bench.folder / "crate.ma").as_posix()
    bench.cube("Crate")
    cmds.file(rename=file)
    cmds.file(save=True, force=True, type="mayaAscii")
    cmds.file(new=True, force=True)
    cmds.file(file, reference=True, namespace="set")
    return "|set:Crate"


def test_faces_that_another_file_has_are_changed_there(bench: Bench) -> None:
    path = referenced(bench)
    before = bench.port(GEOMETRY).info(path)
    for tool, asked in (
        ("normals", {"side": "flip"}),
        ("triangulate", {}),
        ("shade", {"smooth": True}),
    ):
        with pytest.raises(HostError, match=r"referenced from crate\.ma"):
            shape(bench, tool, path, **asked)
    assert bench.port(GEOMETRY).info(path) == before
    assert shape(bench, "subdivide", path, levels=2)["result"]["faces"] == 96


def test_a_change_goes_to_the_end_of_the_history(bench: Bench) -> None:
    path = bench.cube("Crate")
    shape(bench, "triangulate", path)
    assert bench.get(path)["type"] == "mesh"
    fed = cmds.listConnections(f"{path}|CrateShape.inMesh", source=True, destination=False)
    assert cmds.nodeType(fed[0]) == "polyTriangulate"
    cmds.undo()
    assert bench.get(path)["type"] == "cube"


def test_a_material_of_some_faces_stays_with_them(bench: Bench) -> None:
    path = bench.cube("Crate")
    bench.call("materials__create", {"name": "Lid", "color": "#ff0000"})
    bench.call("materials__assign", {"name": "Lid", "objects": [path], "faces": [2]})
    shape(bench, "triangulate", path)
    (group,) = cmds.listConnections("Lid.outColor", source=False, destination=True)
    assert cmds.ls(cmds.sets(group, query=True), flatten=True) == cmds.ls(
        f"{path}.f[4:5]", flatten=True
    )


def test_a_childs_faces_are_its_own(bench: Bench) -> None:
    bench.cube("Crate")
    child = bench.editor.set_parent(bench.cube("Lid"), "Crate", keep_world=True)
    material = bench.call("materials__create", {"name": "Red"})["created"][0]
    bench.call("materials__assign", {"name": "Red", "objects": [child], "faces": [2]})
    assert bench.port(MATERIALS).assigned(child)[material] == [2]
    assert material not in bench.port(MATERIALS).assigned("Crate")


def test_locked_normals_give_way(bench: Bench) -> None:
    path = bench.cube("Crate")
    cmds.polyNormalPerVertex(path, freezeNormal=True)
    assert bench.port(GEOMETRY).info(path)["shading"] == "mixed"
    assert shape(bench, "shade", path, smooth=True)["shading"] == "smooth"


def test_what_has_no_faces_is_told(bench: Bench) -> None:
    with pytest.raises(HostError, match="is of type transform, which has no shape"):
        bench.call("geometry__info", {"name": bench.port(STRUCTURE).create_empty("Group")})
