"""The list of calls, as the Activity tab shows it. Its width determines which columns are shown. It
reports when the pointer is over it, so that the tab doesn't move the rows during that time."""

from __future__ import annotations

from collections.abc import Callable

from qtpy.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, Qt, QTimer
from qtpy.QtGui import QPainter, QResizeEvent
from qtpy.QtWidgets import (
    QApplication,
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionProgressBar,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from callboard_ui import calls_model as columns
from callboard_ui.calls_model import CallsModel
from callboard_ui.theme import em

#: Milliseconds for which the rows stay in place after the pointer has moved over the list.
POINTING_MS = 1500
#: Minimum width of the list, in ems, at which a column is shown.
_FROM = {
    columns.STATE: 25.0,
    columns.CLIENT: 33.0,
    columns.STARTED: 39.0,
    columns.WAITED: 44.0,
    columns.MAIN: 50.0,
}
_WIDTHS = {
    columns.STATE: 5.5,
    columns.TOOK: 5.0,
    columns.CLIENT: 8.0,
    columns.STARTED: 5.5,
    columns.WAITED: 5.0,
    columns.MAIN: 6.5,
}


class CallsView(QTreeView):
    """The list of calls. ``pointer_left`` is called once the pointer has left the list or come
    to rest. Use it on Qt's thread."""

    def __init__(
        self, model: CallsModel, pointer_left: Callable[[], None], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._pointer_left = pointer_left
        self._calls = model
        self._pointing = QTimer(self)
        self._pointing.setSingleShot(True)
        self._pointing.setInterval(POINTING_MS)
        self._pointing.timeout.connect(lambda: self._pointer_left())
        self.setModel(model)
        self.setAccessibleName(self.tr("Calls"))
        self.setSelectionMode(QTreeView.SelectionMode.ExtendedSelection)
        self.menu = QMenu(self)
        self.save_run = self.menu.addAction(self.tr("Save as Workflow…"))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.setItemDelegateForColumn(columns.TOOK, ProgressDelegate(self))
        # The end of a path is more informative than its middle.
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.viewport().setMouseTracking(True)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionsMovable(False)
        header.setSectionResizeMode(columns.TOOL, QHeaderView.ResizeMode.Stretch)

    @property
    def pointed_at(self) -> bool:
        """True while the artist may be about to click. During that time, the owner doesn't add or
        remove rows."""
        return bool(self._pointing.isActive())

    def chosen_ids(self) -> list[str]:
        """Return the ids of the selected calls that have ended."""
        rows = [self._calls.row(index) for index in self.selectionModel().selectedRows()]
        return [row.id for row in rows if row is not None and not row.runs]

    def arrange(self) -> None:
        """Show as many columns as fit."""
        width = self.width()
        for column, needed in _FROM.items():
            self.setColumnHidden(column, width < em(self, needed))
        for column, size in _WIDTHS.items():
            self.setColumnWidth(column, em(self, size))

    def close_down(self) -> None:
        """Stop the timer."""
        self._pointing.stop()

    def _show_menu(self, place: QPoint) -> None:
        self.save_run.setEnabled(bool(self.chosen_ids()))
        self.menu.popup(self.viewport().mapToGlobal(place))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.MouseMove:
            self._pointing.start()
        elif event.type() == QEvent.Type.Leave and self.pointed_at:
            self._pointing.stop()
            self._pointer_left()
        return bool(super().viewportEvent(event))


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
