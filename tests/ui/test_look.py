from __future__ import annotations

import pytest

from needed import need

need("qt")

from qtpy.QtGui import QColor, QPalette

from callboard_ui.theme import LEGIBLE, color, contrast

#: The colors of text, window and list background that hosts have.
HOSTS = {
    "maya": ("#bbbbbb", "#444444", "#2b2b2b"),
    "3ds max dark": ("#e6e6e6", "#444444", "#393939"),
    "3ds max light": ("#1a1a1a", "#c8c8c8", "#dcdcdc"),
    "houdini": ("#cccccc", "#3a3a3a", "#131313"),
    "blender": ("#e6e6e6", "#303030", "#1d1d1d"),
    "light": ("#000000", "#efefef", "#ffffff"),
    "grey on grey": ("#999999", "#555555", "#555555"),
}


def test_black_on_white_is_twenty_one_to_one() -> None:
    assert contrast(QColor("black"), QColor("white")) == pytest.approx(21)


def test_every_colour_can_be_read_on_the_host_s_palette(qapp: object) -> None:
    for kind in ["good", "busy", "warn", "bad", "dim", "text"]:
        for host in HOSTS:
            text, window, base = map(QColor, HOSTS[host])
            palette = QPalette(window)
            palette.setColor(QPalette.ColorRole.WindowText, text)
            palette.setColor(QPalette.ColorRole.Window, window)
            palette.setColor(QPalette.ColorRole.Base, base)
            for ground in (window, base):
                assert contrast(color(palette, kind), ground) >= LEGIBLE
