"""Colors as agents write them."""

from __future__ import annotations

import pytest

from callboard.ground.colors import linear, of_kelvin


def test_what_is_on_a_screen_becomes_linear() -> None:
    assert linear("#000") == [0.0, 0.0, 0.0]
    assert linear("#FFFFFF") == [1.0, 1.0, 1.0]
    # A value in the middle of a screen's range emits about a fifth of the maximum light.
    assert linear("#808080")[0] == pytest.approx(0.21586, abs=1e-5)
    assert linear([0.5, 0, 1]) == [0.5, 0.0, 1.0]


@pytest.mark.parametrize("wrong", ["", "#", "red", "#12345", "#gggggg", "#fff\n", "rgb(0,0,0)"])
def test_what_is_no_colour_says_how_to_write_one(wrong: str) -> None:
    with pytest.raises(ValueError, match="#rrggbb"):
        linear(wrong)


def test_a_glowing_body_goes_from_red_to_blue() -> None:
    candle, noon, shade = (of_kelvin(kelvin) for kelvin in (1900, 6500, 15000))
    assert candle[0] == 1.0
    assert candle[2] < 0.1
    assert min(noon) > 0.9
    assert shade[2] == 1.0
