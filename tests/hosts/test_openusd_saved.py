"""A change that a tool reports as verified is in the saved file when another process reads it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from needed import need

need("pxr")

from callboard.errors import HostError
from hosts.openusd_rig import HEAD, Scene, as_saved, written

pytestmark = pytest.mark.slow

OPS = 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ", "xformOp:scale"]\n'


def box(name: str, body: str, kind: str = "Cube") -> str:
    return f' def {kind} "{name}"\n {{\n{body}\n }}\n'


def common(translate: str = "1, 2, 3", rotate: str = "0, 0, 0", scale: str = "1, 1, 1") -> str:
    return (
        f"double3 xformOp:translate = ({translate})\nfloat3 xformOp:rotateXYZ = ({rotate})\n"
        f"float3 xformOp:scale = ({scale})\n{OPS}"
    )


def matrix(*rows: str) -> str:
    return (
        f"matrix4d xformOp:transform = ( {', '.join(f'({row})' for row in rows)} )\n"
        'uniform token[] xformOpOrder = ["xformOp:transform"]\n'
    )


RESET = 'uniform token[] xformOpOrder = ["!resetXformStack!", "xformOp:translate"]\n'
OBJECTS = {
    "plain": box("Box", common()),
    "turned": box("Box", common(rotate="10, 20, 30", scale="1, 2, 3")),
    "order": box(
        "Box",
        "double3 xformOp:translate = (1, 2, 3)\nfloat3 xformOp:rotateZXY = (10, 20, 30)\n"
        "float3 xformOp:scale = (1, -1, 1)\nuniform token[] xformOpOrder = "
        '["xformOp:translate", "xformOp:rotateZXY", "xformOp:scale"]',
    ),
    "other precisions": box(
        "Box",
        "float3 xformOp:translate = (1, 2, 3)\ndouble3 xformOp:rotateXYZ = (10, 20, 30)\n"
        "half3 xformOp:scale = (1, 2, 1)\n" + OPS,
    ),
    "mirrored": box("Box", common(rotate="0, 30, 0", scale="1, -2, 1")),
    "mirrored matrix": box("Box", matrix("1, 0, 0, 0", "0, -2, 0, 0", "0, 0, 1, 0", "1, 2, 3, 1")),
    "flat": box("Box", common(rotate="0, 30, 0", scale="1, 0, 1")),
    "flat matrix": box("Box", matrix("0, 2, 0, 0", "0, 0, 0, 0", "0, 0, 1, 0", "1, 2, 3, 1")),
    "a line": box("Box", matrix("0, 2, 0, 0", "0, 0, 0, 0", "0, 0, 0, 0", "1, 2, 3, 1")),
    "nothing": box("Box", matrix("0, 0, 0, 0", "0, 0, 0, 0", "0, 0, 0, 0", "1, 2, 3, 1")),
    "sheared": box("Box", matrix("1, 0, 0, 0", "0.5, 1, 0, 0", "0, 0, 1, 0", "1, 2, 3, 1")),
    "one sample": box(
        "Box",
        "double3 xformOp:translate.timeSamples = { 7: (1, 2, 3) }\n"
        "float3 xformOp:rotateXYZ.timeSamples = { 7: (0, 30, 0) }\n"
        "float3 xformOp:scale = (1, 1, 1)\n" + OPS,
    ),
    "one matrix sample": box(
        "Box",
        "matrix4d xformOp:transform.timeSamples = "
        "{ 7: ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (1, 2, 3, 1)) }\n"
        'uniform token[] xformOpOrder = ["xformOp:transform"]\n',
    ),
    "reset": box("Box", "double3 xformOp:translate = (1, 2, 3)\n" + RESET),
    "pivot": box(
        "Box",
        "double3 xformOp:translate = (1, 2, 3)\nfloat3 xformOp:translate:pivot = (5, 0, 0)\n"
        "float3 xformOp:rotateXYZ = (0, 30, 0)\nuniform token[] xformOpOrder = "
        '["xformOp:translate", "xformOp:translate:pivot", "xformOp:rotateXYZ",'
        ' "!invert!xformOp:translate:pivot"]',
    ),
}
#: A parent that is turned and unevenly scaled, below another such parent.
GROUPS = (
    ' def Xform "Outer"\n {\n'
    + common(rotate="0, 40, 0", scale="1, 3, 1")
    + ' def Xform "Inner"\n  {\n'
    + common(rotate="30, 0, 10", scale="2, 1, 1")
    + '  def Sphere "Ball" {}\n  }\n }\n'
)
CHANGES: dict[str, tuple[str, Mapping[str, Any]]] = {
    "move": ("scene__transform", {"name": "Box", "translate": [4, 5, 6]}),
    "turn": ("scene__transform", {"name": "Box", "rotate": [15, 25, 35]}),
    "scale": ("scene__transform", {"name": "Box", "scale": [1, -2, 0.5]}),
    "flatten": ("scene__transform", {"name": "Box", "scale": [1, 0, 1]}),
    "all": (
        "scene__transform",
        {"name": "Box", "translate": [4, 5, 6], "rotate": [15, 25, 35], "scale": [2, -1, 1]},
    ),
    "parent": ("scene__set_parent", {"name": "Box", "parent": "Inner"}),
    "parent, local": ("scene__set_parent", {"name": "Box", "parent": "Inner", "keep_world": False}),
    "unparent": ("scene__set_parent", {"name": "Inner", "parent": None}),
    "rename": ("scene__rename", {"name": "Box", "new_name": "Renamed"}),
    "duplicate": ("scene__duplicate", {"name": "Box", "translate": [7, 8, 9]}),
    "colour": ("scene__set_material_color", {"name": "Box", "color": [1, 0.5, 0.25]}),
}
#: Calls that are refused, with the reason, because they could only be done halfway.
REFUSED = {
    ("turn", "sheared"): "sheared",
    ("scale", "sheared"): "sheared",
    ("flatten", "sheared"): "sheared",
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_every_change_is_in_the_saved_file(kind: str, tmp_path: Path) -> None:
    body = HEAD + 'def Xform "World"\n{\n' + OBJECTS[kind] + GROUPS + "}\n"
    path, answers = written(tmp_path, "shot.usda", body), {}
    for change, (tool, arguments) in CHANGES.items():
        scene = Scene()
        scene.files.open(path)
        before = scene.text()
        if reason := REFUSED.get((change, kind)):
            with pytest.raises(HostError, match=reason):
                scene.call(tool, arguments)
            assert scene.text() == before
        else:
            answers[change] = scene.call(tool, arguments)
            scene.files.save(str(tmp_path / f"{change}.usda"))
    files = [path, *(str(tmp_path / f"{change}.usda") for change in answers)]
    first, *changed = as_saved(*files)
    for (change, answer), file in zip(answers.items(), changed, strict=True):
        told = answer["object"]
        there = file[told["path"]]
        assert answer["verified"] is True
        assert there["bounds"] == near([*told["bounds"]["min"], *told["bounds"]["max"]]), change
        if change == "parent":
            assert there["world"] == near(first["/World/Box"]["world"])
        if change == "unparent":
            assert there["world"] == near(first["/World/Outer/Inner"]["world"])
        if change == "colour":
            assert there["color"] == near([1, 0.5, 0.25])


def test_what_is_made_deleted_and_imported_is_in_the_saved_file(tmp_path: Path) -> None:
    scene, saved = Scene(), str(tmp_path / "saved.usda")
    scene.files.open(written(tmp_path, "shot.usda", HEAD + 'def Xform "World"\n{\n}\n'))
    written(tmp_path, "prop.usda", HEAD + 'def Xform "Prop"\n{\n def Cube "Lid" {}\n}\n')
    made = {
        kind: scene.call(
            "scene__create_primitive",
            {"kind": kind, "translate": [at, 2, 3], "rotate": [0, 30, 0], "scale": [1, 2, 1]},
        )
        for at, kind in enumerate(("sphere", "cube", "plane", "cylinder", "cone", "torus"))
    }
    below = made["cube"]["object"]["path"]
    imported = scene.call("usd__import_usd", {"path": str(tmp_path / "prop.usda"), "parent": below})
    deleted = scene.call("scene__delete", {"name": made["cone"]["object"]["path"]})["deleted"]
    answers = [scene.call("scene__save_file", {"path": saved}), imported, *made.values()]
    assert all(answer["verified"] is True for answer in answers)
    (file,) = as_saved(saved)
    for kind, answer in made.items():
        told = answer["object"]
        if kind == "cone":
            assert told["path"] in deleted
            assert told["path"] not in file
        elif kind != "cube":
            assert file[told["path"]]["bounds"] == near(
                [*told["bounds"]["min"], *told["bounds"]["max"]]
            ), kind
    lid = next(path for path in imported["created"] if path.endswith("/Lid"))
    # The lid is in the middle of its parent cube.
    assert file[lid]["world"] == near(file[below]["world"])
    assert scene.call("scene__open_file", {"path": saved})["verified"] is True
    assert scene.read.names() == [path for path in file if path != "/World"]


def near(values: list[float]) -> Any:
    return pytest.approx(values, abs=1e-4)
