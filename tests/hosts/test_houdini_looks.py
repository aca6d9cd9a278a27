"""Cameras and lights where Houdini differs, on the double or, under hython, on Houdini itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pxr", reason="this Python has no OpenUSD")

from houdini_rig import hou, houdini_host, new_houdini

from callboard.errors import HostError
from callboard.hosting.picture_ports import CAMERAS, LIGHTS
from callboard.testing.compliance import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    new_houdini(windows=False)
    with houdini_host(lambda fn: None) as host:
        yield Bench(host, tmp_path.resolve())


def _camera(bench: Bench, **asked: Any) -> str:
    path: str = bench.call("cameras__create", asked)["created"][0]
    return path


def test_the_picture_is_as_wide_as_the_aperture(bench: Bench) -> None:
    path = _camera(bench, lens=50, sensor=36)
    hou.node(path).parmTuple("res").set((1000, 1000))
    assert bench.port(CAMERAS).get(path)["fov"] == pytest.approx([39.598, 39.598], abs=0.01)


def test_a_lens_is_in_millimetres_whatever_the_camera_counts_in(bench: Bench) -> None:
    path = _camera(bench)
    node = hou.node(path)
    node.parm("focalunits").set("in")
    node.parm("aperture").set(1.0)
    bench.call("cameras__set", {"name": path, "lens": 50.8})
    assert node.parm("focal").eval() == pytest.approx(2.0)
    assert bench.port(CAMERAS).get(path)["sensor"] == pytest.approx(25.4)


def test_the_artists_camera_is_the_active_one_until_another_is_marked(bench: Bench) -> None:
    mine = hou.node("/obj").createNode("cam", "mine")
    assert bench.port(CAMERAS).get("mine")["active"] is True
    other = _camera(bench, active=True)
    assert bench.port(CAMERAS).get("mine")["active"] is False
    bench.call("cameras__set", {"name": "mine", "active": True})
    assert bench.port(CAMERAS).get(other)["active"] is False
    assert bench.port(CAMERAS).get(mine.path())["active"] is True


def test_what_is_keyed_is_refused(bench: Bench) -> None:
    path = _camera(bench)
    key = hou.Keyframe()
    key.setFrame(1)
    key.setValue(35.0)
    hou.node(path).parm("focal").setKeyframe(key)
    with pytest.raises(HostError, match="has keys or an expression"):
        bench.call("cameras__set", {"name": path, "lens": 50})
    bench.call("cameras__set", {"name": path, "fstop": 4})


# -- lights ---------------------------------------------------------------------------------------


def test_a_spots_cone_fades_inside_of_its_angle(bench: Bench) -> None:
    asked = {"kind": "spot", "name": "Lamp", "angle": 40, "blend": 0.25}
    bench.call("lights__create", asked)
    node = hou.node("/obj/Lamp")
    assert (node.parm("coneangle").eval(), node.parm("conedelta").eval()) == (30.0, 5.0)
    bench.call("lights__set", {"name": "Lamp", "blend": 0.5})
    assert (node.parm("coneangle").eval(), node.parm("conedelta").eval()) == (20.0, 10.0)


def test_one_that_is_not_normalized_has_no_power_until_it_is_given(bench: Bench) -> None:
    bench.call("lights__create", {"kind": "area", "name": "Key"})
    hou.node("/obj/Key").parm("normalizearea").set(0)
    assert bench.port(LIGHTS).get("Key")["power"] is None
    answer = bench.call("lights__set", {"name": "Key", "power": 5})
    assert answer["light"]["power"] == pytest.approx(5)


def test_an_environment_of_the_artists_is_switched_off_and_stays(bench: Bench) -> None:
    mine = hou.node("/obj").createNode("envlight", "mine")
    bench.call("lights__set_environment", {"color": [1, 0, 0], "rotate": 30})
    assert mine.parm("light_enable").eval() == 0
    assert bench.port(LIGHTS).environment()["rotate"] == 30
    bench.call("lights__set_environment", {"strength": 2})
    assert len(bench.port(LIGHTS).names()) == 2
    with pytest.raises(HostError, match="no sky"):
        bench.call("lights__set_environment", {"sun_elevation": 30})


def test_a_light_that_is_keyed_is_refused(bench: Bench) -> None:
    bench.call("lights__create", {"kind": "point", "name": "Lamp"})
    key = hou.Keyframe()
    key.setFrame(1)
    key.setValue(0.5)
    hou.node("/obj/Lamp").parm("light_colorr").setKeyframe(key)
    with pytest.raises(HostError, match="has keys or an expression"):
        bench.call("lights__set", {"name": "Lamp", "color": [1, 1, 1]})
    bench.call("lights__set", {"name": "Lamp", "power": 4})


def test_a_width_makes_a_light_of_the_artists_one_that_has_it(bench: Bench) -> None:
    for kind, width in (("distant", {"angle": 3}), ("point", {"size": 0.5})):
        mine = hou.node("/obj").createNode("hlight", f"my_{kind}")
        mine.parm("light_type").set(kind)
        bench.call("lights__set", {"name": f"my_{kind}", "power": 4})
        assert mine.parm("light_type").evalAsString() == kind
        bench.call("lights__set", {"name": f"my_{kind}", **width})
        assert mine.parm("light_type").evalAsString() in ("sun", "sphere")
