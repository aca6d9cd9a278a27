"""Rows with room to breathe, the same height whether they hold an icon or not."""

from __future__ import annotations

from qtpy.QtCore import QModelIndex, QPersistentModelIndex, QSize
from qtpy.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem


class RowDelegate(QStyledItemDelegate):
    """Qt's thread."""

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        found = super().sizeHint(option, index)
        return QSize(found.width(), max(found.height(), round(option.fontMetrics.height() * 1.4)))
