"""The tab with the running and finished calls, updated live."""

from __future__ import annotations

from collections.abc import Sequence
from time import time
from typing import cast

from qtpy.QtCore import QEvent, Qt, QTimer
from qtpy.QtGui import QResizeEvent, QShowEvent
from qtpy.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from callboard.panel.records import CallRecord, Filter, Outcome
from callboard.panel.status import CallStatus, SceneChange, Snapshot, UndoAnswer, agents_turn
from callboard_ui import texts
from callboard_ui.call_details import CallDetails
from callboard_ui.calls_model import CallRow, CallsModel, changed_row, ended_row, running_row
from callboard_ui.calls_view import CallsView
from callboard_ui.history import History
from callboard_ui.icons import icon
from callboard_ui.labels import plain, tint
from callboard_ui.link import Link
from callboard_ui.save_run_dialog import SaveRunDialog
from callboard_ui.theme import em

#: Seconds before a call is shown as running. A shorter call would only flicker.
FLICKER = 0.3
TICK_MS = 250
#: Milliseconds to wait after the last key press before applying the filter.
TYPING_MS = 200
#: Width in ems above which the details are shown next to the list.
_BESIDE = 50.0

#: Maximum number of finished calls to keep.
MOST = 20_000

#: The reserved tool, which every server supports but doesn't list.
_ASKED_FOR = "mcpeye_request_capability"
_FAILED: tuple[Outcome, ...] = ("error", "timeout", "busy", "cancelled")
_REFUSED: tuple[Outcome, ...] = ("refused", "paused")


class ActivityTab(QWidget):
    """The Activity tab. Use it on Qt's thread."""

    def __init__(self, link: Link, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._calls: dict[str, CallStatus] = {}
        self._changes: tuple[SceneChange, ...] = ()
        self._tools: object = None
        self._ended = -1
        self.model = CallsModel(self)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText(self.tr("Filter calls"))
        self.search.setToolTip(self.tr("By tool, arguments, error"))
        self.search.setAccessibleName(self.tr("Filter calls"))
        self.search.setClearButtonEnabled(True)
        self.outcome = QComboBox(self)
        self.outcome.setAccessibleName(self.tr("Which calls"))
        self.outcome.addItem(self.tr("All"), ())
        self.outcome.addItem(self.tr("Done"), ("ok",))
        self.outcome.addItem(self.tr("Failed"), _FAILED)
        self.outcome.addItem(self.tr("Refused"), _REFUSED)
        self.outcome.addItem(self.tr("Changes only"), None)
        self.view = CallsView(self.model, self._pointer_left, self)
        self.newer = QToolButton(self)
        self.newer.setText(self.tr("Newest calls"))
        self.newer.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.newer.clicked.connect(self._to_newest)
        self.newer.hide()
        self.turn = QPushButton(self)
        self.turn.setToolTip(
            self.tr("Take back what agents changed since you last did, or since they last paused")
        )
        self.turn.setAutoDefault(False)
        self.turn.clicked.connect(lambda: self._undo_turn())
        self._outcome = ""
        self._note = plain(self, wrap=True)
        self._note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.details = CallDetails(link, self)
        self.details.hide()
        self._lay_out()
        self._typing = self._timer(TYPING_MS, self._filter_changed, once=True)
        self._ticking = self._timer(TICK_MS, self._tick)
        self.search.textChanged.connect(lambda text: self._typing.start())
        self.outcome.currentIndexChanged.connect(lambda index: self._filter_changed())
        self.view.save_run.triggered.connect(lambda checked: self._save_run())
        self.view.selectionModel().currentRowChanged.connect(lambda new, old: self._selected())
        self.view.verticalScrollBar().valueChanged.connect(lambda value: self._scrolled())
        self._history: History | None = None
        if link.records is not None:
            self._history = History(
                link.records, link.background, self._newest, self._older, self._failed, self
            )
        self._show_turn()
        self._draw()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show a new state."""
        self._calls = {call.id: call for call in snapshot.calls}
        if not self.isVisible():
            self._ended = -1
            return
        if (snapshot.changes, snapshot.tools) != (self._changes, self._tools):
            self._changes, self._tools = snapshot.changes, snapshot.tools
            self._show_turn()
            titles = {tool.name: tool.title for tool in snapshot.tools}
            titles[_ASKED_FOR] = self.tr("Asked for a missing capability")
            self.model.set_known(snapshot.changes, titles)
            self._show_changes()
        self._show_running()
        if snapshot.ended_calls != self._ended:
            self._ended = snapshot.ended_calls
            self._refresh()
        if self._calls and not self._ticking.isActive():
            self._ticking.start()
        self._describe()

    def close_down(self) -> None:
        """Stop every timer."""
        self._ticking.stop()
        self._typing.stop()
        self.view.close_down()
        if self._history is not None:
            self._history.close()

    # -- Qt's methods ---------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.show_snapshot(self._link.controls.status.snapshot)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._draw()
            self._arrange()

    # -- construction ---------------------------------------------------------------------------

    def _timer(self, ms: int, run: object, *, once: bool = False) -> QTimer:
        timer = QTimer(self)
        timer.setInterval(ms)
        timer.setSingleShot(once)
        timer.timeout.connect(run)
        return timer

    def _lay_out(self) -> None:
        space = em(self, 0.3)
        filters = QHBoxLayout()
        filters.setSpacing(space)
        filters.addWidget(self.search, 1)
        filters.addWidget(self.outcome)
        left = QWidget(self)
        box = QVBoxLayout(left)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(space)
        box.addLayout(filters)
        box.addWidget(self.newer, 0, Qt.AlignmentFlag.AlignHCenter)
        box.addWidget(self.view, 1)
        box.addWidget(self._note)
        box.addWidget(self.turn)
        self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._splitter.addWidget(left)
        self._splitter.addWidget(self.details)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setStretchFactor(0, 3)
        self._splitter.setStretchFactor(1, 2)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(space, space, space, space)
        outer.addWidget(self._splitter)

    def _draw(self) -> None:
        self.model.set_look(self.palette(), em(self, 1.4))
        self.newer.setIcon(icon("up", self.palette()))
        tint(self._note, "dim")

    def _arrange(self) -> None:
        wide = self.width() > em(self, _BESIDE)
        way = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self._splitter.orientation() != way:
            self._splitter.setOrientation(way)
            self._splitter.setSizes([6000, 4000])
        self.view.arrange()

    # -- new states -----------------------------------------------------------------------------

    def _pointer_left(self) -> None:
        """Catch up once the pointer has left the list."""
        if self.isVisible():
            self._ended = -1
            self.show_snapshot(self._link.controls.status.snapshot)
            self._show_changes()

    def _show_running(self) -> None:
        if self.view.pointed_at:
            return
        now = time()
        old = [call for call in self._calls.values() if now - call.started > FLICKER]
        wanted = [running_row(call) for call in old if self._matches(call)]
        self.model.set_running(wanted)
        if self._history is None:
            self.model.drop_running({row.id for row in wanted})
        call_id = self.details.call_id
        if not self.details.isHidden() and call_id in self._calls:
            self._show_details()

    @property
    def _changes_only(self) -> bool:
        return self.outcome.currentData() is None

    def _matches(self, call: CallStatus) -> bool:
        kinds = self.outcome.currentData()
        return kinds == () and self._has_text(f"{call.tool} {call.arguments}")

    def _has_text(self, where: str) -> bool:
        return self.search.text().strip().casefold() in where.casefold()

    def _show_changes(self) -> None:
        """Show the calls that changed the scene. They are in memory, so nothing is read from
        disk."""
        if self._changes_only and not self.view.pointed_at:
            selected = self.details.call_id
            matching = [
                c for c in self._changes if c.tool and self._has_text(f"{c.words} {c.tool}")
            ]
            self.model.clear()
            self.model.set_newest([changed_row(change) for change in reversed(matching)])
            self._select(selected)
        if not self.details.isHidden():
            self._show_details()

    def _tick(self) -> None:
        if not self._calls or not self.isVisible():
            self._ticking.stop()
        self._show_running()
        self.model.tick()

    def _refresh(self) -> None:
        if self._history is None or self._changes_only or self.view.pointed_at:
            return
        if self._at_top():
            self._history.refresh()
        else:
            self.newer.show()

    def _newest(self, calls: Sequence[CallRecord]) -> bool:
        if self._changes_only or self.view.pointed_at:
            return True
        if not self._at_top() and self.model.past:
            self.newer.show()
            return True
        selected = self.details.call_id
        joined = self.model.set_newest(list(map(self._row, calls)))
        self.model.drop_running(set(self._calls))
        self._select(selected)
        self._describe()
        return joined

    def _older(self, calls: Sequence[CallRecord]) -> None:
        self.model.add_older(list(map(self._row, calls)))

    def _row(self, call: CallRecord) -> CallRow:
        return ended_row(call, here=self._link.controls.changes.made_here(call.call_id))

    def _failed(self, reason: str) -> None:
        self._note.setText(self.tr("Earlier calls can't be read: {0}").format(reason))
        tint(self._note, "bad")
        self._note.show()

    def _describe(self) -> None:
        if self.model.rowCount():
            text = self._outcome
        elif self.search.text() or self.outcome.currentData():
            text = self.tr("No call matches.")
        elif self._changes_only:
            text = self.tr("No changes yet.")
        elif self._history is None:
            text = self.tr("Calls aren't recorded; only running calls appear.")
        else:
            text = self.tr("No calls yet. Clients' calls appear here.")
        self._note.setText(text)
        tint(self._note, "dim")
        self._note.setVisible(bool(text))

    # -- the artist's actions -------------------------------------------------------------------

    def _filter_changed(self) -> None:
        self._typing.stop()
        self.model.clear()
        self.model.drop_running(set())
        self._show_running()
        if self._changes_only:
            self._show_changes()
            self._describe()
        elif self._history is not None:
            outcomes = cast("tuple[Outcome, ...]", tuple(self.outcome.currentData()))
            text = self.search.text().strip() or None
            self._history.set_filter(Filter(outcomes=outcomes, text=text))
        else:
            self._describe()

    def _selected(self) -> None:
        row = self.model.row(self.view.currentIndex())
        hidden = self.details.isHidden()
        self.details.setVisible(row is not None)
        if hidden:
            self._arrange()
        if row is not None:
            self._show_details()

    def _show_turn(self) -> None:
        count = len(agents_turn(self._changes))
        several = self.tr("Undo the last {0} changes").format(count)
        self.turn.setText(several if count > 1 else self.tr("Undo the last change"))
        self.turn.setEnabled(count > 0)

    def _undo_turn(self) -> None:
        turn = agents_turn(self._changes)
        if not turn:
            return

        def answered(answer: UndoAnswer) -> None:
            self._outcome = texts.undo_outcome(answer, self.tr)
            self._describe()

        self._link.controls.changes.undo_back(turn[0].call, self._link.answer(answered))

    def _save_run(self) -> None:
        runs, ids = self._link.controls.saved_runs, self.view.chosen_ids()
        if runs is not None and ids:
            SaveRunDialog(runs, ids, self._link.folders, self).open()

    def _show_details(self) -> None:
        row = self.model.row(self.view.currentIndex())
        if row is None:
            return
        call = self._calls.get(row.id)
        if call is not None:
            self.details.show_running(
                row, self.model.title_of(row), self.model.word(row.state), call
            )
        else:  # The call has ended, even if its row still shows it as running.
            self._show_record(row)

    def _show_record(self, row: CallRow) -> None:
        known = self.details.record_of(row.id)
        self._show_ended(row, known)
        if self._history is None or known is not None:
            return

        def read(record: CallRecord | None, error: Exception | None) -> None:
            if self.details.call_id == row.id and record is not None:
                self._show_ended(row, record)
            elif error is not None:
                self.details.say(str(error), bad=True)

        self._history.get(row.id, read)

    def _show_ended(self, row: CallRow, record: CallRecord | None) -> None:
        title, word = self.model.title_of(row), self.model.word_of(row)
        self.details.show_ended(row, title, word, record, self._changes)

    def _select(self, call_id: str | None) -> None:
        """Select the row of a call again after rows have moved."""
        current = self.model.row(self.view.currentIndex())
        if call_id is None or (current is not None and current.id == call_id):
            if current is not None and call_id is not None and not current.runs:
                self._show_details()
            return
        rows = [*self.model.running, *self.model.past]
        for number, row in enumerate(rows):
            if row.id == call_id:
                self.view.setCurrentIndex(self.model.index(number, 0))
                return

    def _at_top(self) -> bool:
        return self.view.verticalScrollBar().value() <= self.view.verticalScrollBar().minimum()

    def _scrolled(self) -> None:
        # This isn't done in the model's fetchMore, which a tree view calls on every layout, even
        # while it isn't visible.
        bar = self.view.verticalScrollBar()
        near_end = bar.value() >= bar.maximum() - bar.pageStep()
        if near_end and self._history is not None and len(self.model.past) < MOST:
            self._history.more()
        if self._at_top() and not self.newer.isHidden():
            self.newer.hide()
            self._refresh()

    def _to_newest(self) -> None:
        self.newer.hide()
        self.view.scrollToTop()
        self._refresh()
