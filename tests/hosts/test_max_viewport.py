"""Pictures of 3ds Max's views, on the double, because 3dsmaxbatch has no views."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from max_rig import REAL, max_host, new_max, pymxs

from callboard.errors import HostError
from callboard.ground.png import Picture, decode
from callboard_testing.compliance import Bench

if REAL:
    pytest.skip("3dsmaxbatch has no views", allow_module_level=True)

from pymxs._session import session

rt = pymxs.runtime


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    new_max(windows=True)
    with max_host(lambda fn: None) as host:
        yield Bench(host, tmp_path.resolve())


def looked_at(bench: Bench, **asked: Any) -> tuple[Any, Picture]:
    answer = bench.call("viewport__look", {"width": 96, "height": 64, **asked})
    block: Any = bench.call.content[-1]
    return answer, decode(block.data)


def state() -> list[Any]:
    """Return the state that looking must leave alone."""
    views = [session.views, session.active_view, session.view_camera, session.safe_frames]
    shown = [session.view_settings, session.grids, session.hidden, session.scene.frame]
    scene = [[(str(node.name), bool(node.xray)) for node in rt.objects], session.puts]
    return copy.deepcopy([*views, *shown, *scene, session.modified, session.bitmaps])


def drawn_size(picture: Picture) -> tuple[int, int]:
    """Return the width and height of everything but the background."""
    ground = picture.rgb[:3]
    lit = [
        (at % picture.width, at // picture.width)
        for at in range(picture.width * picture.height)
        if picture.rgb[3 * at : 3 * at + 3] != ground
    ]
    across, down = ({place[axis] for place in lit} for axis in (0, 1))
    return max(across) - min(across) + 1, max(down) - min(down) + 1


@pytest.mark.parametrize("shading", ["solid", "wireframe", "xray", "material", "rendered"])
@pytest.mark.parametrize("from_camera", [True, False])
def test_the_artists_views_are_as_before(bench: Bench, shading: str, from_camera: bool) -> None:
    bench.cube("Crate")
    bench.call("cameras__create", {"name": "Shot", "translate": [0, -300, 0]})
    bench.call("cameras__look_at", {"name": "Shot", "target": "Crate"})
    if from_camera:
        rt.viewport.setCamera(rt.getNodeByName("Shot"))
    rt.setSaveRequired(False)
    before = state()
    for asked in ({"camera": "Shot"}, {"angles": ["front"]}, {"frames": [0, 5]}):
        looked_at(bench, shading=shading, width=24, height=16, **asked)
        assert state() == before, asked


def test_a_view_that_draws_nothing_is_put_back_too(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.cube("Crate")
    before = state()
    monkeypatch.setattr(type(rt.gw), "getViewportDib", lambda self: None)
    with pytest.raises(HostError, match="drew no picture"):
        looked_at(bench, angles=["front"], shading="xray")
    assert state() == before


def test_an_orthographic_view_stays_and_another_one_draws(bench: Bench) -> None:
    bench.cube("Crate")
    rt.viewport.activeViewport = 1
    before = state()
    looked_at(bench, angles=["front"])
    assert state() == before
    session.views[1][0] = "view_left"
    with pytest.raises(HostError, match="no view of 3ds Max is in perspective"):
        looked_at(bench, angles=["front"])
    assert rt.viewport.activeViewport == 1


@pytest.mark.parametrize("size", [(120, 60), (60, 120), (80, 80)])
def test_a_picture_of_any_shape_is_whole_and_undistorted(
    bench: Bench, size: tuple[int, int]
) -> None:
    bench.cube("Crate", 10.0)
    bench.call("cameras__create", {"name": "Shot", "translate": [0, -60, 0]})
    bench.call("cameras__look_at", {"name": "Shot", "target": "Crate"})
    for asked in ({"angles": ["front"]}, {"camera": "Shot"}):
        _, picture = looked_at(bench, width=size[0], height=size[1], shading="solid", **asked)
        across, down = drawn_size(picture)
        assert abs(across - down) <= 3, asked
        assert across < picture.width
        assert down < picture.height


def test_a_rendered_look_says_by_what(bench: Bench) -> None:
    bench.cube("Crate")
    answer, _ = looked_at(bench, angles=["front"], shading="rendered")
    assert answer["engine"] == "Arnold"
    assert "no light" in answer["doubt"]


def test_an_orthographic_camera_is_refused(bench: Bench) -> None:
    bench.cube("Crate")
    flat = rt.Freecamera(name="Plan")
    flat.orthoProjection = True
    with pytest.raises(HostError, match="is orthographic"):
        looked_at(bench, camera="Plan")


def pointed_at(bench: Bench, **asked: Any) -> Any:
    return bench.call("viewport__pick", {"width": 96, "height": 64, "x": 0.5, "y": 0.5, **asked})


def test_a_point_of_the_artists_own_view_is_an_object(bench: Bench) -> None:
    bench.cube("Crate", 80.0)
    before = state()
    for view in (2, 1):  # The views look from above, in perspective and without it.
        rt.viewport.activeViewport = view
        seen = pointed_at(bench)
        assert (seen["path"], seen["point"][2]) == ("/Crate", pytest.approx(40.0))
    rt.viewport.activeViewport = 2
    wide = {"width": 320, "height": 120}
    _, picture = looked_at(bench, shading="solid", **wide)
    row = picture.rgb[3 * 320 * 60 : 3 * 320 * 61]
    # The crate is surrounded by the view's ground, and the narrower view by bars.
    plain = {bytes(3), row[3 * 120 : 3 * 121]}
    crate = [at for at in range(320) if row[3 * at : 3 * at + 3] not in plain]
    for column, path in (
        *((10, None), (crate[0] - 3, None), (crate[0] + 3, "/Crate")),
        *((crate[-1] - 3, "/Crate"), (crate[-1] + 3, None), (310, None)),
    ):
        assert pointed_at(bench, x=(column + 0.5) / 320, **wide)["path"] == path, column
    assert state() == before


def test_a_sheet_is_found_from_both_sides(bench: Bench) -> None:
    sheet = bench.editor.create("plane", "Sheet", {"width": 4.0, "depth": 4.0})
    bench.editor.set_transform(bench.cube("Beyond", 2.0), [0.0, 0.0, 9.0], None, None)
    assert pointed_at(bench, angles=["bottom"], frame=["Sheet"])["path"] == sheet
    bench.editor.set_transform("Beyond", [0.0, 0.0, -9.0], None, None)
    assert pointed_at(bench, angles=["top"], frame=["Sheet"])["path"] == sheet
