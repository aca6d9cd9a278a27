"""Draws rows with some padding, and with the same height whether or not they have an icon."""

from __future__ import annotations

from qtpy.QtCore import QModelIndex, QPersistentModelIndex, QSize
from qtpy.QtGui import QPalette
from qtpy.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from callboard_ui.theme import color, is_dark


class RowDelegate(QStyledItemDelegate):
    """Draws the rows. Use it on Qt's thread."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        if is_dark(option.palette):
            # Styles outline an empty box in a darker shade of this color, which would be invisible
            # on a dark base.
            option.palette.setColor(QPalette.ColorRole.Window, color(option.palette, "dim"))

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width(), max(size.height(), round(option.fontMetrics.height() * 1.4)))
