"""The table model of calls. Running calls are above finished ones, newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import time
from typing import Any

from qtpy.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QSize, Qt
from qtpy.QtGui import QBrush, QFont, QPalette

from callboard.panel.records import CallRecord
from callboard.panel.status import CallStatus, SceneChange
from callboard_ui.icons import icon
from callboard_ui.labels import as_tip
from callboard_ui.shown_text import clock, duration, one_line
from callboard_ui.theme import Kind, color

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()

TOOL, STATE, TOOK, CLIENT, STARTED, WAITED, MAIN = range(7)
_ROLES = frozenset(
    (
        Qt.ItemDataRole.DisplayRole,
        Qt.ItemDataRole.DecorationRole,
        Qt.ItemDataRole.FontRole,
        Qt.ItemDataRole.ForegroundRole,
        Qt.ItemDataRole.ToolTipRole,
        Qt.ItemDataRole.SizeHintRole,
        Qt.ItemDataRole.AccessibleTextRole,
    )
)
_GLYPHS: dict[str, tuple[str, Kind]] = {
    "asking": ("question", "warn"),
    "waiting": ("clock", "busy"),
    "running": ("play", "busy"),
    "ok": ("check", "good"),
    "error": ("warning", "bad"),
    "refused": ("slash", "bad"),
    "cancelled": ("cross", "dim"),
    "timeout": ("clock", "bad"),
    "busy": ("clock", "warn"),
    "paused": ("pause", "warn"),
    "undone": ("undo", "dim"),
}


@dataclass(frozen=True)
class CallRow:
    """One call, running or ended. ``done`` and ``total`` are its progress. ``here`` is True if this
    server ran the call. Calls from other processes, some of which have ended, are in the same
    records."""

    id: str
    tool: str
    client: str
    state: str
    started: float
    took_ms: float | None = None
    queue_ms: float | None = None
    main_ms: float | None = None
    done: float | None = None
    total: float | None = None
    message: str | None = None
    here: bool = True

    @property
    def runs(self) -> bool:
        return self.state in ("asking", "waiting", "running")

    @property
    def share(self) -> float | None:
        """The call's progress from 0 to 1, or None if it isn't known."""
        if self.done is None or not self.total or self.total <= 0:
            return None
        return min(1.0, max(0.0, self.done / self.total))


def running_row(call: CallStatus) -> CallRow:
    return CallRow(
        call.id,
        call.tool,
        call.client,
        call.state,
        call.started,
        done=call.done,
        total=call.total,
        message=call.message,
    )


def changed_row(change: SceneChange) -> CallRow:
    state = "error" if change.failed else "ok"
    took = change.took_ms
    return CallRow(change.call, change.tool, change.client, state, change.started, took)


def ended_row(call: CallRecord, *, here: bool = True) -> CallRow:
    """Return the row of a finished call, without its arguments and result. Those are read only for
    the call that the artist opens."""
    return CallRow(
        call.call_id,
        call.tool,
        call.client_name or "",
        call.outcome,
        call.started,
        call.duration_ms,
        call.queue_ms,
        call.main_thread_ms,
        message=call.error_message,
        here=here,
    )


class CallsModel(QAbstractTableModel):
    """The model of calls. Use it on Qt's thread."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._running: list[CallRow] = []
        self._past: list[CallRow] = []
        self._ids: set[str] = set()
        self._changes: dict[str, SceneChange] = {}
        self._titles: Mapping[str, str] = {}
        self._palette = QPalette()
        self._size = QSize()
        self._headers = (
            self.tr("Call"),
            self.tr("State"),
            self.tr("Took"),
            self.tr("Client"),
            self.tr("Started"),
            self.tr("Waited"),
            self.tr("Main thread"),
        )
        self._elsewhere = self.tr("another process, or before this one began")
        self._words = {
            "asking": self.tr("asks you"),
            "waiting": self.tr("waits"),
            "running": self.tr("runs"),
            "ok": self.tr("done"),
            "error": self.tr("failed"),
            "refused": self.tr("refused"),
            "cancelled": self.tr("cancelled"),
            "timeout": self.tr("timed out"),
            "busy": self.tr("host busy"),
            "paused": self.tr("paused"),
            "undone": self.tr("undone"),
        }

    # -- for the tab ----------------------------------------------------------------------------

    def set_look(self, palette: QPalette, height: int) -> None:
        """Use the host's palette. Rows are ``height`` pixels high."""
        self._palette = palette
        self._size = QSize(0, height)
        self._touch(0, self.rowCount() - 1)

    def set_known(self, changes: Sequence[SceneChange], titles: Mapping[str, str]) -> None:
        """Set the changes that calls made to the scene, and the tools' titles by wire name."""
        self._changes = {change.call: change for change in changes}
        self._titles = titles
        self._touch(0, self.rowCount() - 1)

    def title_of(self, row: CallRow) -> str:
        """Return a description of the call's change or, if it changed nothing, its tool's title."""
        change = self._changes.get(row.id)
        title = self._titles.get(row.tool) if change is None else change.words
        return one_line(title or row.tool)

    def word_of(self, row: CallRow) -> str:
        """Return the call's state in the artist's language."""
        return self.word(self._state(row))

    def word(self, state: str) -> str:
        """Return the word for a state in the artist's language."""
        return self._words.get(state, state)

    @property
    def running(self) -> Sequence[CallRow]:
        return self._running

    @property
    def past(self) -> Sequence[CallRow]:
        return self._past

    def set_running(self, rows: Sequence[CallRow]) -> None:
        """Show these calls as running. Calls that have ended in the meantime stay until
        :meth:`set_newest` adds them to the finished ones, so that no row disappears and comes
        back."""
        wanted = {row.id: row for row in rows if row.id not in self._ids}
        for number, row in enumerate(self._running):
            new = wanted.pop(row.id, None)
            if new is not None and new != row:
                self._running[number] = new
                self._touch(number, number)
        if wanted:
            fresh = sorted(wanted.values(), key=lambda row: -row.started)
            self.beginInsertRows(_ROOT, 0, len(fresh) - 1)
            self._running[:0] = fresh
            self.endInsertRows()

    def drop_running(self, keep: set[str]) -> None:
        """Remove running calls other than ``keep``."""
        for number in range(len(self._running) - 1, -1, -1):
            if self._running[number].id not in keep:
                self.beginRemoveRows(_ROOT, number, number)
                del self._running[number]
                self.endRemoveRows()

    def set_newest(self, rows: Sequence[CallRow]) -> bool:
        """Put the newest finished calls above the existing ones. If calls in between may be
        missing, replace the existing ones and return False."""
        joined = any(row.id in self._ids for row in rows)
        if not joined:
            self.clear()
        fresh = [row for row in rows if row.id not in self._ids]
        if fresh:
            at = len(self._running)
            self.beginInsertRows(_ROOT, at, at + len(fresh) - 1)
            self._past[:0] = fresh
            self._ids.update(row.id for row in fresh)
            self.endInsertRows()
        self.drop_running({row.id for row in self._running} - self._ids)
        return joined

    def add_older(self, rows: Sequence[CallRow]) -> None:
        """Append calls that ended before the existing ones."""
        fresh = [row for row in rows if row.id not in self._ids]
        if fresh:
            at = self.rowCount()
            self.beginInsertRows(_ROOT, at, at + len(fresh) - 1)
            self._past.extend(fresh)
            self._ids.update(row.id for row in fresh)
            self.endInsertRows()

    def clear(self) -> None:
        """Remove the calls that have ended."""
        if self._past:
            self.beginRemoveRows(_ROOT, *self._span())
            self._past, self._ids = [], set()
            self.endRemoveRows()

    def tick(self) -> None:
        """Update the running times."""
        self._touch(0, len(self._running) - 1)

    def row(self, index: Index) -> CallRow | None:
        if not index.isValid():
            return None
        number = index.row() - len(self._running)
        if number < 0:
            return self._running[index.row()]
        return self._past[number] if number < len(self._past) else None

    # -- Qt's methods ---------------------------------------------------------------------------

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._running) + len(self._past)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._headers)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._headers[section] if section < len(self._headers) else None
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        # Painting requests nine roles for every cell, so this must be fast.
        if role not in _ROLES:
            return None
        row = self.row(index)
        if row is None:
            return None
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == Qt.ItemDataRole.DecorationRole and column == TOOL:
            glyph, kind = _GLYPHS.get(self._state(row), ("dot", "text"))
            return icon(glyph, self._palette, kind)
        if role == Qt.ItemDataRole.FontRole:
            return self._font(row)
        if role == Qt.ItemDataRole.ForegroundRole and (column != TOOL or not row.here):
            kind = _GLYPHS.get(self._state(row), ("", "dim"))[1] if column == STATE else "dim"
            return QBrush(color(self._palette, kind))
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_tip(self._tip(row))
        if role == Qt.ItemDataRole.SizeHintRole:
            return self._size if self._size.isValid() else None
        if role == Qt.ItemDataRole.AccessibleTextRole and column == TOOL:
            where = "" if row.here else f", {self._elsewhere}"
            return f"{self.title_of(row)}, {self.word_of(row)}, {self._text(row, TOOK)}{where}"
        return None

    # -- internals ------------------------------------------------------------------------------

    def _text(self, row: CallRow, column: int) -> str:
        if column == TOOL:
            return self.title_of(row)
        if column == STATE:
            return self.word_of(row)
        if column == TOOK:
            return duration((time() - row.started) * 1000 if row.runs else row.took_ms)
        if column == CLIENT:
            return one_line(row.client)
        if column == STARTED:
            return clock(row.started)
        return duration(row.queue_ms if column == WAITED else row.main_ms)

    def _tip(self, row: CallRow) -> str:
        lines = [
            f"{self.title_of(row)}: {self.word_of(row)}",
            f"{one_line(row.tool)} · {one_line(row.client)}",
        ]
        if not row.here:
            lines.append(self._elsewhere)
        if row.message:
            lines.append(one_line(row.message)[:500])
        return "\n".join(lines)

    def _state(self, row: CallRow) -> str:
        change = self._changes.get(row.id)
        return "undone" if change is not None and change.undone else row.state

    def _font(self, row: CallRow) -> QFont | None:
        undone = self._state(row) == "undone"
        if row.here and not undone:
            return None
        # Set nothing else, so that family and size stay those of the view.
        font = QFont()
        font.setItalic(not row.here)
        font.setStrikeOut(undone)
        return font

    def _span(self) -> tuple[int, int]:
        first = len(self._running)
        return first, first + len(self._past) - 1

    def _touch(self, first: int, last: int) -> None:
        if last >= first:
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(self._headers) - 1))
