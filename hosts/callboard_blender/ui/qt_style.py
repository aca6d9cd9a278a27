"""Applies Blender's theme to Qt's palette and font."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
from qtpy.QtGui import QColor, QFont, QPalette
from qtpy.QtWidgets import QApplication

_ROLES = QPalette.ColorRole
_GROUPS = (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive)
#: The share of the text's own color in a disabled widget's text. The rest is the background's
#: color.
_FADED = 0.45


def dress(app: QApplication) -> None:
    """Make the application look like Blender. Qt keeps the system's look if the format of Blender's
    theme is unknown."""
    try:
        palette, font = _palette(), _font(app)
    except (AttributeError, IndexError):
        return
    app.setStyle("Fusion")
    app.setPalette(palette)
    app.setFont(font)


def _palette() -> QPalette:
    theme = bpy.context.preferences.themes[0]
    widgets = theme.user_interface
    window = _color(theme.properties.space.back)
    text = _color(widgets.wcol_regular.text)
    button = _over(widgets.wcol_tool.inner, window)
    base = _over(widgets.wcol_text.inner, window)
    chosen = _over(widgets.wcol_list_item.inner_sel, window)
    colors = {
        _ROLES.Window: window,
        _ROLES.WindowText: text,
        _ROLES.Base: base,
        _ROLES.AlternateBase: window,
        _ROLES.Text: _color(widgets.wcol_text.text),
        _ROLES.PlaceholderText: _mixed(_color(widgets.wcol_text.text), base, 0.6),
        _ROLES.Button: button,
        _ROLES.ButtonText: _color(widgets.wcol_tool.text),
        _ROLES.ToolTipBase: _over(widgets.wcol_tooltip.inner, window),
        _ROLES.ToolTipText: _color(widgets.wcol_tooltip.text),
        _ROLES.Highlight: chosen,
        _ROLES.HighlightedText: _color(widgets.wcol_list_item.text_sel),
    }
    palette = QPalette(button, window)
    for role, color in colors.items():
        for group in _GROUPS:
            palette.setColor(group, role, color)
    for role, behind in (
        (_ROLES.WindowText, window),
        (_ROLES.Text, base),
        (_ROLES.ButtonText, button),
    ):
        palette.setColor(QPalette.ColorGroup.Disabled, role, _mixed(colors[role], behind, _FADED))
    return palette


def _font(app: QApplication) -> QFont:
    preferences = bpy.context.preferences
    font = QFont(app.font())
    pixels = preferences.ui_styles[0].widget.points * preferences.system.ui_scale
    # Qt multiplies the size by the screen's own factor, which Blender's scale already contains.
    font.setPixelSize(max(9, round(pixels / app.devicePixelRatio())))
    return font


def _color(components: Iterable[float]) -> QColor:
    red, green, blue, *_ = components
    return QColor.fromRgbF(red, green, blue)


def _over(components: Iterable[float], behind: QColor) -> QColor:
    """Return a color, which may be translucent, laid over a background."""
    red, green, blue, *rest = components
    return _mixed(QColor.fromRgbF(red, green, blue), behind, rest[0] if rest else 1.0)


def _mixed(a: QColor, b: QColor, share: float) -> QColor:
    """Return a mix of the colors. ``share`` is the fraction of ``a``; the rest is ``b``."""
    return QColor.fromRgbF(
        a.redF() * share + b.redF() * (1 - share),
        a.greenF() * share + b.greenF() * (1 - share),
        a.blueF() * share + b.blueF() * (1 - share),
    )
