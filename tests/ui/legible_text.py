"""Measures the contrast of each piece of text in a panel, from the pixels of a screenshot. FreeCAD
imports this file too, so it needs nothing but Qt and the panel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

from qtpy.QtCore import QPoint, QRect
from qtpy.QtGui import QColor, QImage, QPalette
from qtpy.QtWidgets import QAbstractButton, QAbstractItemView, QLabel, QTabBar, QWidget

from callboard_ui.theme import contrast

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
#: Pixels at a button's or a tab's edge, where its frame is drawn.
_FRAME = 4


def palette(colors: tuple[str, str, str]) -> QPalette:
    """Return the palette of a host in ``HOSTS``."""
    text, window, base = map(QColor, colors)
    whole = QPalette(window)
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text):
        whole.setColor(role, text)
    whole.setColor(QPalette.ColorRole.ButtonText, text)
    whole.setColor(QPalette.ColorRole.Window, window)
    whole.setColor(QPalette.ColorRole.Base, base)
    return whole


def least(panel: Any) -> list[tuple[float, str]]:
    """Return each text of the panel's tabs with its contrast, the lowest first. Disabled texts are
    left out, because they may be pale (WCAG 2.2, 1.4.3)."""
    shown, ratios = panel.tabs.currentIndex(), {}
    for index in range(panel.tabs.count()):
        panel.tabs.setCurrentIndex(index)
        picture = panel.grab().toImage()
        for text, where in texts(panel):
            ratios[text] = min(ratios.get(text, 21.0), _measured(picture, where))
    panel.tabs.setCurrentIndex(shown)
    return sorted((ratio, text) for text, ratio in ratios.items())


def texts(panel: QWidget) -> Iterator[tuple[str, QRect]]:
    """Yield each visible text and its position in the panel."""
    for widget in panel.findChildren(QWidget):
        if widget.isVisible() and widget.isEnabled():
            for text, rect, of in _of(widget):
                seen = rect.intersected(of.visibleRegion().boundingRect())
                if text.strip() and seen.width() >= 8 and seen.height() >= 8:
                    yield text, seen.translated(of.mapTo(panel, QPoint(0, 0)))


def _of(widget: Any) -> Iterator[tuple[str, QRect, QWidget]]:
    if isinstance(widget, QTabBar):
        for n in range(widget.count()):
            yield widget.tabText(n), _inside(widget.tabRect(n)), widget
    elif isinstance(widget, QAbstractItemView):
        model = widget.model()
        for n in range(model.rowCount()):
            index = model.index(n, 0)
            yield str(index.data()), widget.visualRect(index), widget.viewport()
    elif isinstance(widget, QLabel):
        yield widget.text(), widget.rect(), widget
    elif isinstance(widget, QAbstractButton):
        yield widget.text(), _inside(widget.rect()), widget


def _inside(rect: QRect) -> QRect:
    return rect.adjusted(_FRAME, _FRAME, -_FRAME, -_FRAME)


def _measured(picture: QImage, where: QRect) -> float:
    """Return the contrast between the most frequent color, which is the background, and the color
    that differs most from it, which is the middle of a stroke."""
    by = picture.devicePixelRatio()
    corner, size = where.topLeft() * by, where.size() * by
    part = picture.copy(QRect(corner, size)).convertToFormat(QImage.Format.Format_RGB32)
    seen = Counter(memoryview(part.constBits()).cast("B").cast("I"))
    ground, *others = (pixel for pixel, _ in seen.most_common())
    return max((_contrast(ground, other) for other in others), default=1.0)


@cache
def _contrast(one: int, other: int) -> float:
    return contrast(QColor(one & 0xFFFFFF), QColor(other & 0xFFFFFF))
