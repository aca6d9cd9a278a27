"""The ``file__…`` tools on USD stages, compared with plain ``pxr`` in another process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from needed import need

need("pxr")

from callboard_openusd.host import OpenUsdHost
from callboard_testing.compliance import Bench

PROP = """#usda 1.0
(defaultPrim = "Prop")
def Xform "Prop"
{
    def Mesh "Big"
    {
        int[] faceVertexCounts = [3, 3, 3]
    }
}
"""
BASE = '#usda 1.0\n(subLayers = [@./gone.usda@])\nover "Shot" {}\n'
SHOT = """#usda 1.0
(
    defaultPrim = "Shot"
    subLayers = [@./base.usda@]
    metersPerUnit = 1
    upAxis = "Z"
    startTimeCode = 1
    endTimeCode = 48
    timeCodesPerSecond = 24
)
def Xform "Shot"
{
    def "Prop" (payload = @./prop.usda@) {}
    def "Twin" (references = @./prop.usda@) {}
    def Camera "Eye" {}
    def Shader "Picture"
    {
        asset inputs:file = @./wood.png@
    }
    def Shader "Lost"
    {
        asset inputs:file = @/nowhere/lost.png@
    }
}
"""
PLAIN = """
import json, sys
from collections import Counter
from pxr import Usd, UsdGeom, UsdUtils
stage = Usd.Stage.Open(sys.argv[1])
layers, assets, unresolved = UsdUtils.ComputeAllDependencies(sys.argv[1])
print(json.dumps({
    "counts": Counter(p.GetTypeName() or "untyped" for p in stage.TraverseAll()),
    "layers": [one.realPath for one in layers[1:]], "assets": list(assets),
    "unresolved": list(unresolved), "up": UsdGeom.GetStageUpAxis(stage),
}))
"""


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    for name, text in (("prop", PROP), ("base", BASE), ("shot", SHOT)):
        (tmp_path / f"{name}.usda").write_text(text, encoding="utf-8")
    (tmp_path / "wood.png").write_bytes(b"picture")
    return tmp_path / "shot.usda"


@pytest.mark.parametrize("opened", [True, False], ids=["open", "on disk"])
def test_it_is_as_plain_pxr_sees_it(shot: Path, opened: bool) -> None:
    bench = Bench(OpenUsdHost(lambda fn: None), shot.parent)
    asked = {} if opened else {"path": str(shot)}
    if opened:
        bench.call("scene__open_file", {"path": str(shot)})
    done = subprocess.run(
        [sys.executable, "-c", PLAIN, str(shot)], capture_output=True, text=True, check=True
    )
    plain = json.loads(done.stdout)
    overview = bench.call("file__overview", asked)
    assert overview["counts"] == plain["counts"]
    assert overview["scenes"][0]["up_axis"] == plain["up"]
    assert overview["scenes"][0]["frame_range"] == [1, 48]
    assert [each["faces"] for each in overview["heaviest"]] == [3, 3]
    assert overview["missing"] == len(plain["unresolved"]) == 2
    told = bench.call("file__references", asked)
    there = {str(shot.parent / e["path"]) for e in told["files"] if e["state"] == "found"}
    assert {Path(each) for each in there} == {Path(e) for e in plain["layers"] + plain["assets"]}
    missing = {each["path"] for each in told["files"] if each["state"] == "missing"}
    assert missing == {"./gone.usda", "/nowhere/lost.png"}
    assert [e["path"] for e in told["files"] if e["absolute"]] == ["/nowhere/lost.png"]
    kinds = {each["kind"]: each["used_by"] for each in told["files"] if each["state"] == "found"}
    assert kinds["payload"] == ["/Shot/Prop"]
    assert kinds["reference"] == ["/Shot/Twin"]
    base = next(each for each in told["tree"] if each["kind"] == "sublayer")
    assert [each["path"] for each in base["below"]] == ["./gone.usda"]
