"""Cameras where Maya differs, on the double or, under mayapy, on Maya itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from maya import cmds
from maya_rig import maya_host, new_maya

from callboard.errors import HostError
from callboard.hosting.picture_ports import CAMERAS
from callboard.testing.compliance import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    new_maya(batch=True)
    with maya_host(lambda fn: None) as host:
        yield Bench(host, tmp_path.resolve())


def _camera(bench: Bench, **asked: Any) -> str:
    path: str = bench.call("cameras__create", asked)["created"][0]
    return path


def test_the_cameras_of_each_scene_are_nobodys(bench: Bench) -> None:
    assert bench.call("cameras__list")["total"] == 0
    bench.cube("Cube")
    with pytest.raises(HostError, match="is no camera"):
        bench.call("cameras__set", {"name": "Cube", "lens": 50})


def test_only_the_active_one_is_rendered(bench: Bench) -> None:
    first, second = _camera(bench), _camera(bench)
    bench.call("cameras__set", {"name": second, "active": True})
    rendered = [each for each in cmds.ls(type="camera") if cmds.getAttr(f"{each}.renderable")]
    assert cmds.ls(rendered, long=True) == [f"{second}|{second[1:]}Shape"]
    assert (
        bench.call("cameras__set", {"name": second, "active": False})["camera"]["active"] is False
    )
    assert first in bench.port(CAMERAS).names()


@pytest.mark.parametrize(
    ("fit", "wide", "high"),
    [(0, 39.598, 22.895), (1, 39.598, 22.895), (2, 46.214, 26.991), (3, 46.214, 26.991)],
)
def test_the_picture_is_fitted_to_the_film(
    bench: Bench, fit: int, wide: float, high: float
) -> None:
    path = _camera(bench, lens=50, sensor=36)
    cmds.setAttr(f"{path}|{path[1:]}Shape.filmFit", fit)
    assert bench.port(CAMERAS).get(path)["fov"] == pytest.approx([wide, high], abs=0.01)


def test_what_something_else_drives_is_refused(bench: Bench) -> None:
    path, other = _camera(bench, name="One"), _camera(bench, name="Other")
    cmds.connectAttr(f"{other}|OtherShape.focalLength", f"{path}|OneShape.focalLength")
    with pytest.raises(HostError, match="driven by keys or another node"):
        bench.call("cameras__set", {"name": path, "lens": 20})
    bench.call("cameras__set", {"name": path, "fstop": 4})
