"""Checks that pictures show the requested views, and that nothing else changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from callboard.errors import HostError
from callboard.ground.png import Picture, decode
from callboard.host import CAMERAS, LOOK, SCENE_MUTATE, SCENE_READ
from callboard_testing.checks.objects import raised

if TYPE_CHECKING:
    from callboard_testing.bench import Bench

_SIZE = {"width": 96, "height": 64}


def _seen(bench: Bench, **asked: Any) -> tuple[Any, Picture]:
    """Take a picture. Return the answer, and the last picture in the answer."""
    answer = bench.call("viewport__look", {**_SIZE, **asked})
    block: Any = bench.call.content[-1]
    return answer, decode(block.data)


def _agree(bench: Bench, asked: dict[str, Any]) -> None:
    """Assert that the picture shows an object exactly where picking finds one."""
    _, picture = _seen(bench, **asked)
    reported = set()
    for row in range(4, picture.height, 8):
        for column in range(4, picture.width, 8):
            shown = {_lit(picture, column + a, row + b) for a in (-2, 0, 2) for b in (-2, 0, 2)}
            if len(shown) == 1:
                share = {"x": (column + 0.5) / picture.width, "y": (row + 0.5) / picture.height}
                seen = bench.call("viewport__pick", {**asked, **share})["path"] is not None
                assert {seen} == shown, (column, row)
                reported |= shown
    assert reported == {True, False}


def _lit(picture: Picture, column: int, row: int) -> bool:
    """Return whether a point differs from the background, whose color is taken from the picture's
    corner. In Blender 4.3 and later, a side in the shade differs from the gray background by only 5
    out of 255."""
    at = 3 * (row * picture.width + column)
    pairs = zip(picture.rgb[at : at + 3], picture.rgb[:3], strict=True)
    return max(abs(a - b) for a, b in pairs) > 2


class Looking:
    needs = (SCENE_READ, SCENE_MUTATE, LOOK)

    def test_a_sheet_shows_the_scene_from_each_angle(self, bench: Bench) -> None:
        # Long, wide and flat, so that it looks different from each side.
        bench.editor.set_transform(bench.cube("Slab"), None, None, [4.0, 1.0, 0.25])
        before, selected = bench.everything(), bench.reader.selection()
        answer, picture = _seen(bench, angles=["front", "right", "top"], shading="solid")
        assert (picture.width, picture.height) == (answer["width"], answer["height"])
        assert [each["view"] for each in answer["pictures"]] == ["front", "right", "top"]
        assert 0.2 < answer["empty"] < 1
        assert bench.everything() == before
        assert bench.reader.selection() == selected

    def test_each_shading_shows_something_of_its_own(self, bench: Bench) -> None:
        bench.editor.create("torus", "Ring", {"major_radius": 1.0, "minor_radius": 0.25})
        seen = {
            shading: _seen(bench, shading=shading, angles=["three_quarter"])[1].rgb
            for shading in ("solid", "wireframe", "xray", "material")
        }
        assert len(set(seen.values())) == 4
        assert all(len(set(rgb)) > 8 for rgb in seen.values())

    def test_objects_fill_the_picture(self, bench: Bench) -> None:
        bench.cube("Small", 1.0)
        bench.editor.set_transform(bench.cube("Far", 1.0), [100.0, 0.0, 0.0], None, None)
        whole, _ = _seen(bench, angles=["three_quarter"], shading="solid")
        near, _ = _seen(bench, frame=["Small"], shading="solid")
        assert near["empty"] < 0.8 < whole["empty"]

    def test_a_picture_is_compared_with_an_earlier_one(self, bench: Bench) -> None:
        path = bench.cube("Moves", 1.0)
        bench.editor.set_transform(bench.cube("Stays", 6.0), [0.0, 0.0, -10.0], None, None)
        asked = {"angles": ["front"], "shading": "solid"}
        first, _ = _seen(bench, **asked)
        same, _ = _seen(bench, **asked, before=first["id"])
        assert same["compared"]["changed"] < 0.01
        bench.editor.set_transform(path, None, [0.0, 0.0, 30.0], [2.0, 2.0, 2.0])
        other, picture = _seen(bench, **asked, before=first["id"])
        assert other["compared"]["changed"] > 0.02
        assert picture.width > 2 * first["width"]
        raised(ValueError, bench.call, "viewport__look", {**_SIZE, "before": "0123"})

    def test_a_point_is_the_object_that_is_seen_there(self, bench: Bench) -> None:
        path = bench.cube("Seen", 1.0)
        asked = {**_SIZE, "frame": ["Seen"], "angles": ["front"], "y": 0.5}
        if not hasattr(bench.host.ports[LOOK], "under"):
            raised(HostError, bench.call, "viewport__pick", {**asked, "x": 0.5})
            return
        before, selected = bench.everything(), bench.reader.selection()
        assert bench.call("viewport__pick", {**asked, "x": 0.5})["path"] == path
        assert bench.call("viewport__pick", {**asked, "x": 0.0}) == {"path": None, "point": None}
        assert bench.everything() == before
        assert bench.reader.selection() == selected

    def test_a_point_is_what_is_in_front(self, bench: Bench) -> None:
        if not hasattr(bench.host.ports[LOOK], "under"):
            return
        front, back = bench.cube("Front", 1.0), bench.cube("Back", 1.0)
        ahead = [0.0, -1.0, 0.0] if bench.reader.info()["up_axis"] == "Z" else [0.0, 0.0, 1.0]
        bench.editor.set_transform(front, [3 * value for value in ahead], None, None)
        for angle, path, side in (("front", front, 3.5), ("back", back, -0.5)):
            asked = {**_SIZE, "frame": ["Front"], "angles": [angle], "x": 0.5, "y": 0.5}
            seen = bench.call("viewport__pick", asked)
            assert seen["path"] == path
            pairs = zip(seen["point"], ahead, strict=True)
            assert all(abs(at - side * value) < 1e-3 for at, value in pairs)

    def test_points_agree_with_the_picture(self, bench: Bench) -> None:
        if not hasattr(bench.host.ports[LOOK], "under"):
            return
        bench.cube("Low", 1.0)
        bench.editor.set_transform(bench.cube("High", 1.0), [1.5, 1.0, 1.0], None, None)
        asked: dict[str, Any] = {"width": 96, "height": 40, "shading": "solid"}
        _agree(bench, {**asked, "angles": ["three_quarter"]})
        if CAMERAS in bench.host.ports:
            # The camera's frame differs in shape from the picture.
            bench.call("cameras__create", {"name": "Shot"})
            whole = {"objects": ["Low", "High"], "angle": "three_quarter"}
            bench.call("cameras__frame", {"name": "Shot", **whole})
            _agree(bench, {**asked, "camera": "Shot"})

    def test_what_is_not_there_is_refused(self, bench: Bench) -> None:
        bench.cube("Here")
        before = bench.everything()
        for wrong in ({"camera": "Nowhere"}, {"camera": "Here"}, {"frame": ["Nowhere"]}):
            raised(HostError, bench.call, "viewport__look", {**_SIZE, **wrong})
        assert bench.everything() == before
