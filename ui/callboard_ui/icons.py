"""Icons drawn as strokes in the palette's own colors, so they fit every
host's theme and stay sharp at any scale.

A glyph is a list of strokes on a 16 by 16 grid: ``M x y`` begins a stroke, ``L x y`` draws a line,
``O x y r`` a ring and ``D x y r`` a disc, and ``Z`` closes the stroke.
"""

from __future__ import annotations

from functools import lru_cache

from qtpy.QtCore import QPointF, Qt
from qtpy.QtGui import QColor, QIcon, QPainter, QPainterPath, QPalette, QPen, QPixmap

from callboard_ui.theme import Kind, color

_GLYPHS = {
    "pause": "M 5.5 3.5 L 5.5 12.5 M 10.5 3.5 L 10.5 12.5",
    "play": "M 5 3.5 L 12.5 8 L 5 12.5 Z",
    "copy": "M 5.5 5.5 L 13.5 5.5 L 13.5 13.5 L 5.5 13.5 Z M 10.5 5 L 10.5 2.5 L 2.5 2.5 "
    "L 2.5 10.5 L 5 10.5",
    "plug": "M 6 2.5 L 6 5.5 M 10 2.5 L 10 5.5 M 4 5.5 L 12 5.5 L 12 8.5 L 10 10.5 L 6 10.5 "
    "L 4 8.5 Z M 8 10.5 L 8 13.5",
    "plus": "M 8 3 L 8 13 M 3 8 L 13 8",
    "minus": "M 3 8 L 13 8",
    "up": "M 8 13 L 8 3.5 M 4 7.5 L 8 3.5 L 12 7.5",
    "down": "M 8 3 L 8 12.5 M 4 8.5 L 8 12.5 L 12 8.5",
    "lock": "M 4 7.5 L 12 7.5 L 12 13.5 L 4 13.5 Z M 5.5 7.5 L 5.5 4.5 L 7 3 L 9 3 L 10.5 4.5 "
    "L 10.5 7.5",
    "folder": "M 2.5 4 L 6 4 L 7.5 5.5 L 13.5 5.5 L 13.5 12.5 L 2.5 12.5 Z",
    "check": "M 3 8.5 L 6.5 12 L 13 4.5",
    "cross": "M 4 4 L 12 12 M 12 4 L 4 12",
    "slash": "O 8 8 5.5 M 4.2 11.8 L 11.8 4.2",
    "warning": "M 8 2.5 L 14 13 L 2 13 Z M 8 6.5 L 8 9.5 M 8 11.2 L 8 11.3",
    "clock": "O 8 8 5.5 M 8 5 L 8 8 L 10 9.5",
    "question": "M 5.5 5.5 L 5.5 4.5 L 7 3 L 9 3 L 10.5 4.5 L 10.5 6 L 8 8 L 8 10 M 8 12.9 L 8 13",
    "undo": "M 6 3 L 3 6 L 6 9 M 3 6 L 10 6 L 12.5 8.5 L 12.5 10.5 L 10 13 L 6 13",
    "reload": "M 12.5 3 L 12.5 6.5 L 9 6.5 M 12.3 6.3 L 10.5 4 L 8 3.2 L 5.5 4 L 3.8 5.8 "
    "L 3.2 8 L 3.8 10.2 L 5.5 12 L 8 12.8 L 10.5 12 L 12.2 10",
    "target": "O 8 8 4 M 8 1.5 L 8 5.5 M 8 10.5 L 8 14.5 M 1.5 8 L 5.5 8 M 10.5 8 L 14.5 8",
    "dot": "D 8 8 4",
    "ring": "O 8 8 4",
    "activity": "M 1.5 8.5 L 4.5 8.5 L 6.5 3.5 L 9.5 13 L 11.5 8.5 L 14.5 8.5",
    "switch": "M 2.5 5 L 13.5 5 M 2.5 11 L 13.5 11 D 10.5 5 2 D 5.5 11 2",
    "hand": "M 8 2.5 L 13.5 5 L 13 9.5 L 8 13.8 L 3 9.5 L 2.5 5 Z",
    "book": "M 3 3.5 L 7 3.5 L 8 4.5 L 9 3.5 L 13 3.5 L 13 12 L 9 12 L 8 13 L 7 12 L 3 12 Z "
    "M 8 4.5 L 8 13",
    "more": "D 3.5 8 1.3 D 8 8 1.3 D 12.5 8 1.3",
}
_SIZES = (16, 24, 32, 48, 64)


def icon(name: str, palette: QPalette, kind: Kind = "text") -> QIcon:
    """Return the icon in the palette's color for the given kind. Its disabled state is paler."""
    plain = color(palette, kind)
    pale = palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.WindowText)
    chosen = palette.color(QPalette.ColorRole.HighlightedText)
    return _icon(name, plain.rgba(), pale.rgba(), chosen.rgba())


@lru_cache(maxsize=256)
def _icon(name: str, normal: int, disabled: int, selected: int) -> QIcon:
    made = QIcon()
    for size in _SIZES:
        for mode, rgba in (
            (QIcon.Mode.Normal, normal),
            (QIcon.Mode.Disabled, disabled),
            (QIcon.Mode.Selected, selected),
        ):
            made.addPixmap(_pixmap(name, size, QColor.fromRgba(rgba)), mode)
    return made


def _pixmap(name: str, size: int, ink: QColor) -> QPixmap:
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(size / 16, size / 16)
    lines, discs = _paths(name)
    pen = QPen(ink, 1.4)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.strokePath(lines, pen)
    painter.fillPath(discs, ink)
    painter.end()
    return pixmap


def _paths(name: str) -> tuple[QPainterPath, QPainterPath]:
    lines, discs = QPainterPath(), QPainterPath()
    words = _GLYPHS[name].split()
    while words:
        step = words.pop(0)
        if step == "Z":
            lines.closeSubpath()
            continue
        at = QPointF(float(words.pop(0)), float(words.pop(0)))
        if step == "M":
            lines.moveTo(at)
        elif step == "L":
            lines.lineTo(at)
        else:
            radius = float(words.pop(0))
            (lines if step == "O" else discs).addEllipse(at, radius, radius)
    return lines, discs
