"""Keeps the panel readable under an application's style sheet.

A style sheet colors widgets without changing the palette, from which the panel takes its colors. So
the panel looks at what the style sheet draws, chooses legible colors for that background, and
gives itself a style sheet, which takes precedence over the application's. It does the same where
the application's style draws pale text on buttons and tabs.
"""

from __future__ import annotations

from qtpy.QtCore import QSize
from qtpy.QtGui import QColor, QImage, QPalette
from qtpy.QtWidgets import QApplication, QPushButton, QTabBar, QTreeWidget, QWidget

from callboard_ui.theme import LEGIBLE, between, color, contrast

#: The property of labels that holds their kind of color.
KIND = "callboardKind"
#: The property of a panel that follows a style sheet.
_FOLLOWS = "callboardFollows"
#: The property of a panel that records the palette and style sheets that the panel has already
#: processed.
_DRAWN = "callboardDrawn"
_KINDS = ("good", "busy", "warn", "bad", "dim", "text")
_PROBE = QSize(48, 48)


def follow(panel: QWidget, *, by_palette: bool = False) -> None:
    """Make the panel readable under the style sheet of the application or of a parent, or on pale
    buttons. Call it when the panel is shown, when its style changes and, with ``by_palette``, when
    its palette changes. A new style sheet changes the palette before it has drawn anything."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    above = panel.parentWidget()
    palette = application.palette() if above is None else above.palette()
    sheets = application.styleSheet() + _above(panel)
    drawn = f"{palette.cacheKey()} {sheets}"
    if panel.property(_DRAWN) == drawn or (by_palette and sheets):
        return
    panel.setProperty(_DRAWN, drawn)
    follows = bool(sheets) or _is_pale(panel)
    panel.setProperty(_FOLLOWS, follows or None)
    own = _sheet(_palette(panel)) if follows else ""
    if own != panel.styleSheet():
        panel.setStyleSheet(own)


def is_followed(widget: QWidget) -> bool:
    """Return whether the widget is in a panel that follows a style sheet."""
    above: QWidget | None = widget
    while above is not None:
        if above.property(_FOLLOWS):
            return True
        above = above.parentWidget()
    return False


def polish(widget: QWidget) -> None:
    """Apply the style sheet again, after the widget's properties have changed."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def _above(panel: QWidget) -> str:
    sheets, above = "", panel.parentWidget()
    while above is not None:
        sheets += above.styleSheet()
        above = above.parentWidget()
    return sheets


def _is_pale(panel: QWidget) -> bool:
    """Return whether the application's style draws text on buttons or tabs too pale to read."""
    button, tabs = QPushButton(panel.parentWidget()), QTabBar(panel.parentWidget())
    tabs.addTab(" " * 20)
    try:
        roles = QPalette.ColorRole
        for probe, role in ((button, roles.ButtonText), (tabs, roles.WindowText)):
            probe.resize(_PROBE)
            probe.ensurePolished()
            ground = _middle(probe.grab().toImage())
            if contrast(probe.palette().color(role), ground) < LEGIBLE:
                return True
    finally:
        for probe in (button, tabs):
            probe.hide()
            probe.deleteLater()
    return False


def _palette(panel: QWidget) -> QPalette:
    """Return legible colors for the background on which the style sheet draws lists."""
    probe = QTreeWidget(panel.parentWidget())
    try:
        probe.setObjectName("callboardProbe")
        probe.setHeaderHidden(True)
        probe.resize(_PROBE)
        probe.ensurePolished()
        ground = _middle(probe.grab().toImage())
        wanted = probe.palette().color(QPalette.ColorRole.Text)
        chosen = probe.palette().color(QPalette.ColorRole.Highlight)
    finally:
        probe.hide()
        probe.deleteLater()
    far = QColor("white" if contrast(QColor("white"), ground) > LEGIBLE else "black")
    text = wanted if contrast(wanted, ground) >= LEGIBLE + 1 else far
    palette = QPalette()
    roles = QPalette.ColorRole
    for role in (roles.Window, roles.Base, roles.AlternateBase, roles.Button):
        palette.setColor(role, ground)
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        palette.setColor(role, text)
    palette.setColor(roles.Highlight, chosen)
    light = contrast(QColor("white"), chosen) >= contrast(QColor("black"), chosen)
    palette.setColor(roles.HighlightedText, QColor("white" if light else "black"))
    return palette


def _middle(picture: QImage) -> QColor:
    return QColor(picture.pixel(picture.width() // 2, picture.height() // 2))


def _sheet(palette: QPalette) -> str:
    roles = QPalette.ColorRole
    ground, text = palette.color(roles.Window), palette.color(roles.WindowText)
    chosen, on_chosen = palette.color(roles.Highlight), palette.color(roles.HighlightedText)
    line, dim = between(ground, text, 0.35).name(), color(palette, "dim").name()
    raised = between(ground, text, 0.08).name()
    # Dim text has little contrast to spare, so hovering moves a row's color away from the text's.
    hovered = between(ground, QColor("black" if text.lightness() > 127 else "white"), 0.15).name()
    shades = "".join(
        f'QLabel[{KIND}="{kind}"] {{ color: {color(palette, kind).name()}; }}' for kind in _KINDS
    )
    return f"""
* {{
    color: {text.name()}; background-color: {ground.name()};
    background-image: none; border-image: none;
    selection-color: {on_chosen.name()}; selection-background-color: {chosen.name()};
    alternate-background-color: {ground.name()};
}}
*:disabled {{ color: {dim}; }}
QLabel, QCheckBox, QRadioButton {{ border: none; background-color: transparent; }}
QPushButton, QToolButton, QComboBox, QLineEdit, QPlainTextEdit, QTextEdit {{
    border: 1px solid {line}; border-radius: 3px; padding: 3px 8px;
}}
QToolButton {{ padding: 3px; }}
QPushButton, QToolButton {{ background-color: {raised}; }}
QPushButton:focus, QToolButton:focus, QLineEdit:focus {{ border-color: {text.name()}; }}
QPushButton:pressed, QPushButton:checked, QToolButton:pressed, QToolButton:checked {{
    background-color: {line};
}}
QTabBar::tab {{
    color: {text.name()}; background-color: {ground.name()};
    border: none; border-bottom: 2px solid {ground.name()}; padding: 4px 6px; margin: 0;
}}
QTabBar::tab:selected {{ border-bottom-color: {text.name()}; }}
QHeaderView::section {{
    color: {dim}; background-color: {ground.name()};
    border: none; border-bottom: 1px solid {line}; padding: 2px 4px;
}}
QMenu::item {{ color: {text.name()}; background-color: {ground.name()}; }}
QAbstractItemView::item:selected, QMenu::item:selected {{
    color: {on_chosen.name()}; background-color: {chosen.name()};
}}
QAbstractItemView::item:hover:!selected {{ background-color: {hovered}; }}
{shades}"""
