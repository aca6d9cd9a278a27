from __future__ import annotations

import pytest

from needed import need

need("qt")

from legible_text import HOSTS
from legible_text import palette as palette_of
from qtpy.QtGui import QColor

from callboard_ui.theme import LEGIBLE, color, contrast


def test_black_on_white_is_twenty_one_to_one() -> None:
    assert contrast(QColor("black"), QColor("white")) == pytest.approx(21)


def test_every_colour_can_be_read_on_the_host_s_palette(qapp: object) -> None:
    for kind in ["good", "busy", "warn", "bad", "dim", "text"]:
        for host in HOSTS:
            _text, window, base = map(QColor, HOSTS[host])
            palette = palette_of(HOSTS[host])
            for ground in (window, base):
                assert contrast(color(palette, kind), ground) >= LEGIBLE
