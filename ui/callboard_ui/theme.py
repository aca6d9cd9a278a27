"""Colors, sizes and fonts that suit the host's palette and font.

There is one set of colors for light palettes and one for dark ones. People with any type of color
vision can tell the colors of a set apart (after Okabe and Ito). Color is never the only cue: there
is always a shape or a word as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from qtpy.QtGui import QColor, QFont, QFontDatabase, QFontInfo, QPalette
from qtpy.QtWidgets import QWidget

_LIGHT = {"good": "#00694b", "busy": "#005f9e", "warn": "#8f5a00", "bad": "#b23a00"}
_DARK = {"good": "#4fd0a5", "busy": "#6cc0f5", "warn": "#f0b73f", "bad": "#ff9466"}

#: The contrast that text needs against its background (WCAG 2.2, 1.4.3).
LEGIBLE = 4.5
#: The contrast that our own colors aim for. Thin strokes are drawn paler than their color.
_AIM = 5.0

Kind = str
"""``good``, ``busy``, ``warn``, ``bad``, ``dim`` or ``text``."""


def is_dark(palette: QPalette) -> bool:
    """Return whether text is lighter than its background."""
    text = palette.color(QPalette.ColorRole.WindowText)
    window = palette.color(QPalette.ColorRole.Window)
    return text.lightness() > window.lightness()


def color(palette: QPalette, kind: Kind) -> QColor:
    """Return the color for text and glyphs of the given kind."""
    roles = (QPalette.ColorRole.WindowText, QPalette.ColorRole.Window, QPalette.ColorRole.Base)
    return QColor.fromRgba(_color(kind, *(palette.color(role).rgba() for role in roles)))


@lru_cache(maxsize=256)  # This is called for every cell that is drawn or measured.
def _color(kind: Kind, *palette: int) -> int:
    """Return the color as ``rgba``, given a palette's text, window and base."""
    text, window, base = map(QColor.fromRgba, palette)
    if kind == "dim":
        shade = between(text, window, 0.35)
    else:
        dark = text.lightness() > window.lightness()
        shade = QColor((_DARK if dark else _LIGHT).get(kind, text))
    return _legible(shade, text, (window, base)).rgba()


def contrast(a: QColor, b: QColor) -> float:
    """Return the ratio of two luminances, 1 to 21 (WCAG 2.2, contrast ratio)."""
    lighter, darker = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(one: QColor) -> float:
    parts = (one.redF(), one.greenF(), one.blueF())
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _legible(wanted: QColor, text: QColor, grounds: Sequence[QColor]) -> QColor:
    """Return ``wanted``, shifted towards the host's text color, and then towards black or white,
    until it is easily legible on all ``grounds``. If no shade is, return the most legible one."""
    far = QColor("white" if _luminance(text) > _luminance(grounds[0]) else "black")
    steps = [between(wanted, text, share / 10) for share in range(10)]
    steps += [between(text, far, share / 10) for share in range(11)]

    def least(one: QColor) -> float:
        return min(contrast(one, ground) for ground in grounds)

    return next((one for one in steps if least(one) >= _AIM), max(steps, key=least))


def palette_of(widget: QWidget) -> QPalette:
    """Return the palette that the host gave the widget's parent."""
    parent = widget.parentWidget()
    return parent.palette() if parent is not None else widget.palette()


def em(widget: QWidget, times: float = 1.0) -> int:
    """Return a length in pixels that follows the font, and so the screen's scaling."""
    return max(1, round(widget.fontMetrics().height() * times))


def bold(font: QFont) -> QFont:
    thick = QFont(font)
    thick.setBold(True)
    return thick


def fixed(font: QFont) -> QFont:
    """Return a monospaced font of the same size as ``font``."""
    monospaced = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    if not QFontInfo(monospaced).fixedPitch():
        monospaced = QFont("monospace")
        monospaced.setStyleHint(QFont.StyleHint.TypeWriter)
    if font.pointSizeF() > 0:
        monospaced.setPointSizeF(font.pointSizeF())
    else:
        monospaced.setPixelSize(font.pixelSize())
    return monospaced


def between(a: QColor, b: QColor, share: float) -> QColor:
    """Return the color at ``share``, 0 to 1, of the way from ``a`` to ``b``."""
    return QColor(
        round(a.red() + (b.red() - a.red()) * share),
        round(a.green() + (b.green() - a.green()) * share),
        round(a.blue() + (b.blue() - a.blue()) * share),
    )
