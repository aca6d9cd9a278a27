"""A grouped list of immutable rows, which most of the panel's tabs show.

A tab makes rows from its data. The model determines which rows have changed, so that selection,
scrolling and folding stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from qtpy.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from qtpy.QtGui import QBrush, QFont, QIcon, QPalette

from callboard_ui.icons import icon
from callboard_ui.labels import as_tip
from callboard_ui.theme import Kind, bold, color

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


@dataclass(frozen=True)
class Row:
    """One row. ``key`` is unique among its siblings. ``cells`` are the columns' texts. ``glyph`` is
    an icon before the first text. A row whose ``checked`` is None has no check box."""

    key: str
    cells: tuple[str, ...]
    glyph: str | None = None
    kind: Kind = "text"
    tip: str = ""
    checked: bool | None = None
    enabled: bool = True
    heading: bool = False
    rows: tuple[Row, ...] = ()
    #: The tab's own data about the row.
    data: Any = None


class RowsModel(QAbstractItemModel):
    """Two levels of rows. Use it on Qt's thread."""

    def __init__(self, headers: Sequence[str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._headers = list(headers)
        self._rows: tuple[Row, ...] = ()
        # Qt's index of a child outlives changes above its group, so the index identifies the group
        # by a fixed number and not by its position.
        self._groups: dict[str, int] = {}
        self._numbers = count(1)
        self._palette = QPalette()
        self._font = QFont()
        #: Called with a row and the new value when the row's check box is clicked.
        self.on_check: Callable[[Row, bool], None] = lambda row, checked: None

    # -- for tabs -------------------------------------------------------------------------------

    def set_look(self, palette: QPalette, font: QFont) -> None:
        """Use the host's palette and font."""
        self._palette, self._font = palette, font
        self._changed_all(_ROOT, len(self._rows))
        for number, row in enumerate(self._rows):
            self._changed_all(self.index(number, 0), len(row.rows))

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows. Unchanged rows stay where they are."""
        rows = tuple(rows)
        if rows == self._rows:
            return
        if [row.key for row in rows] == [row.key for row in self._rows]:
            for number, row in enumerate(rows):
                self._update_group(number, row)
        else:
            self._replace_groups(rows)

    def row(self, index: Index) -> Row | None:
        """Return the row at an index, or None."""
        if not index.isValid():
            return None
        if index.internalId() == 0:
            return self._rows[index.row()] if index.row() < len(self._rows) else None
        place = self._place(index)
        children = () if place is None else self._rows[place].rows
        return children[index.row()] if index.row() < len(children) else None

    def find(self, key: str, group: str | None = None) -> QModelIndex:
        """Return the index of a row by its key and, for a row in a group, the group's key."""
        for number, row in enumerate(self._rows):
            if group is None and row.key == key:
                return self.index(number, 0)
            if row.key == group:
                for inner, child in enumerate(row.rows):
                    if child.key == key:
                        return self.index(inner, 0, self.index(number, 0))
        return QModelIndex()

    @property
    def rows(self) -> tuple[Row, ...]:
        return self._rows

    # -- Qt's methods ---------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: Index = _ROOT) -> QModelIndex:
        if row < 0 or not 0 <= column < len(self._headers):
            return QModelIndex()
        if not parent.isValid():
            return self.createIndex(row, column, 0) if row < len(self._rows) else QModelIndex()
        if parent.internalId() != 0 or parent.column() != 0:
            return QModelIndex()
        if parent.row() >= len(self._rows) or row >= len(self._rows[parent.row()].rows):
            return QModelIndex()
        key = self._rows[parent.row()].key
        if key not in self._groups:
            self._groups[key] = next(self._numbers)
        return self.createIndex(row, column, self._groups[key])

    def parent(self, index: Index = _ROOT) -> Any:
        if not index.isValid() or index.internalId() == 0:
            return QModelIndex()
        place = self._place(index)
        return QModelIndex() if place is None else self.createIndex(place, 0, 0)

    def rowCount(self, parent: Index = _ROOT) -> int:
        if not parent.isValid():
            return len(self._rows)
        if parent.internalId() != 0 or parent.column() != 0:
            return 0
        return len(self._rows[parent.row()].rows) if parent.row() < len(self._rows) else 0

    def columnCount(self, parent: Index = _ROOT) -> int:
        return len(self._headers)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._headers[section] if section < len(self._headers) else None
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self.row(index)
        if row is None:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled
        if not row.enabled:
            flags = Qt.ItemFlag.ItemIsSelectable
        if row.checked is not None and index.column() == 0:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index)
        if row is None:
            return None
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return row.cells[column] if column < len(row.cells) else ""
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_tip(row.tip) or None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(cell for cell in row.cells[column:] if cell) if column == 0 else None
        if role == Qt.ItemDataRole.FontRole:
            return bold(self._font) if row.heading and column == 0 else None
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._ink(row, column)
        if column == 0 and role == Qt.ItemDataRole.CheckStateRole and row.checked is not None:
            return Qt.CheckState.Checked if row.checked else Qt.CheckState.Unchecked
        if column == 0 and role == Qt.ItemDataRole.DecorationRole and row.glyph is not None:
            return self._glyph(row)
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row = self.row(index)
        if row is None or row.checked is None or role != Qt.ItemDataRole.CheckStateRole:
            return False
        # The row changes once the server confirms it.
        self.on_check(row, Qt.CheckState(value) == Qt.CheckState.Checked)
        return True

    # -- internals ------------------------------------------------------------------------------

    def _place(self, child: Index) -> int | None:
        """Return the current position of a child's group, or None if the group is gone."""
        for place, group in enumerate(self._rows):
            if self._groups.get(group.key) == child.internalId():
                return place
        return None

    def _ink(self, row: Row, column: int) -> QBrush | None:
        if not row.enabled or row.kind == "dim":
            return QBrush(color(self._palette, "dim"))
        if column == 0:
            return None
        # A normal state isn't colored.
        return QBrush(color(self._palette, row.kind if row.kind in ("warn", "bad") else "dim"))

    def _glyph(self, row: Row) -> QIcon:
        return icon(row.glyph or "dot", self._palette, row.kind if row.enabled else "dim")

    def _update_group(self, number: int, row: Row) -> None:
        old = self._rows[number]
        if row == old:
            return
        at = self.index(number, 0)
        if [child.key for child in row.rows] != [child.key for child in old.rows]:
            if old.rows:
                self.beginRemoveRows(at, 0, len(old.rows) - 1)
                self._put(number, replace(old, rows=()))
                self.endRemoveRows()
            if row.rows:
                self.beginInsertRows(at, 0, len(row.rows) - 1)
                self._put(number, row)
                self.endInsertRows()
        else:
            self._put(number, row)
            for inner, (new, before) in enumerate(zip(row.rows, old.rows, strict=True)):
                if new != before:
                    self._changed(self.index(inner, 0, at))
        self._put(number, row)
        self._changed(at)

    def _replace_groups(self, rows: tuple[Row, ...]) -> None:
        keep = {row.key for row in rows}
        for number in range(len(self._rows) - 1, -1, -1):
            if self._rows[number].key not in keep:
                self.beginRemoveRows(_ROOT, number, number)
                self._groups.pop(self._rows[number].key, None)
                self._rows = self._rows[:number] + self._rows[number + 1 :]
                self.endRemoveRows()
        there = [row.key for row in self._rows]
        if there != [row.key for row in rows if row.key in set(there)]:
            self.beginResetModel()
            self._rows = rows
            self._groups.clear()
            self.endResetModel()
            return
        for number, row in enumerate(rows):
            if number < len(self._rows) and self._rows[number].key == row.key:
                self._update_group(number, row)
            else:
                self.beginInsertRows(_ROOT, number, number)
                self._rows = (*self._rows[:number], row, *self._rows[number:])
                self.endInsertRows()

    def _put(self, number: int, row: Row) -> None:
        self._rows = (*self._rows[:number], row, *self._rows[number + 1 :])

    def _changed(self, first: QModelIndex) -> None:
        self.dataChanged.emit(first, first.siblingAtColumn(len(self._headers) - 1))

    def _changed_all(self, parent: QModelIndex, count: int) -> None:
        if count:
            last = self.index(count - 1, len(self._headers) - 1, parent)
            self.dataChanged.emit(self.index(0, 0, parent), last)
