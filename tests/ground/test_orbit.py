"""A turntable's camera sees the whole box, the right way up, from all around."""

from __future__ import annotations

from itertools import product
from math import isclose

import pytest

from callboard.errors import HostError
from callboard.ground.orbit import View, around, numbered, orbiting, reaching

LOW, HIGH = [-1.0, 2.0, 3.0], [4.0, 3.0, 30.0]


def seen(view: View, point: tuple[float, ...]) -> tuple[float, float, float]:
    """Return a point's position as the camera sees it: how far to the right, above, and in
    front."""
    *axes, eye = view.rows
    away = [a - b for a, b in zip(point, eye, strict=True)]
    x, y, z = (sum(a * b for a, b in zip(away, axis, strict=True)) for axis in axes)
    return x, y, -z


def test_the_whole_box_is_in_the_picture() -> None:
    for up_axis in ["Y", "Z"]:
        for aspect in [16 / 9, 1.0, 0.25]:
            for turn in [0.0, 0.1, 0.5, 0.9]:
                view = orbiting(LOW, HIGH, turn, aspect, up_axis)
                for corner in product(*zip(LOW, HIGH, strict=True)):
                    x, y, depth = seen(view, corner)
                    assert view.near < depth < view.far
                    assert abs(x) <= depth * view.wide
                    assert abs(y) <= depth * view.wide / aspect


def test_what_is_behind_is_not_cut_off() -> None:
    behind = ([-1.0, 400.0, -1.0], [1.0, 500.0, 1.0])
    view = orbiting(LOW, HIGH, 0.0, 1.0, "Z")
    wall = (0.0, 500.0, 0.0)
    assert seen(view, wall)[2] > view.far
    assert seen(view, wall)[2] < reaching(view, *behind).far
    assert reaching(view, LOW, HIGH) == view


@pytest.mark.parametrize(("up_axis", "front"), [("Y", (0, 1, 5)), ("Z", (0, -5, 1))])
def test_it_begins_at_the_front_and_turns_upright(
    up_axis: str, front: tuple[float, float, float]
) -> None:
    up = "XYZ".index(up_axis)
    heights = set()
    for step in range(8):
        view = orbiting([-1, -1, -1], [1, 1, 1], step / 8, 1.0, up_axis)
        assert isclose(view.rows[0][up], 0.0, abs_tol=1e-12)
        assert view.rows[1][up] > 0.9
        heights.add(round(view.rows[3][up], 9))
    assert len(heights) == 1
    eye = orbiting([-1, -1, -1], [1, 1, 1], 0.0, 1.0, up_axis).rows[3]
    assert all(a * b > 0 for a, b in zip(eye, front, strict=True) if b)


def test_boxes_are_joined() -> None:
    assert around([([0, 0, 0], [1, 1, 1]), ([-1, 0, 0], [0, 0, 5])]) == ([-1, 0, 0], [1, 1, 5])
    with pytest.raises(HostError, match="nothing that can be rendered"):
        around([])


def test_the_number_takes_the_place_of_the_signs() -> None:
    assert numbered("/a#/turn_###.png", 7).endswith("turn_007.png")
    assert numbered("/a/turn_#.png", 12).endswith("turn_12.png")
