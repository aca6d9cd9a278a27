"""A call's progress, drawn in the host's style."""

from __future__ import annotations

from qtpy.QtCore import QModelIndex, QPersistentModelIndex, Qt
from qtpy.QtGui import QPainter
from qtpy.QtWidgets import (
    QApplication,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionProgressBar,
    QStyleOptionViewItem,
)

from callboard_ui.calls_model import CallsModel


class ProgressDelegate(QStyledItemDelegate):
    """Draws the progress of a call. Use it on Qt's thread."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        model = index.model()
        row = model.row(index) if isinstance(model, CallsModel) else None
        if row is None or not row.runs or row.share is None:
            super().paint(painter, option, index)
            return
        bar = QStyleOptionProgressBar()
        bar.rect = option.rect.adjusted(2, 3, -2, -3)
        bar.palette = option.palette
        bar.fontMetrics = option.fontMetrics
        bar.state = option.state | QStyle.StateFlag.State_Horizontal
        bar.minimum, bar.maximum = 0, 1000
        bar.progress = round(row.share * 1000)
        bar.text = f"{row.share:.0%}"
        bar.textVisible = True
        bar.textAlignment = Qt.AlignmentFlag.AlignCenter
        style = option.widget.style() if option.widget is not None else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ProgressBar, bar, painter)
