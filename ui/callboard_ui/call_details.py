"""Shows all facts about one call, such as its client, tool, times and outcome, and the actions that
are still possible."""

from __future__ import annotations

from collections.abc import Sequence
from time import time

from qtpy.QtCore import QEvent, Qt
from qtpy.QtGui import QGuiApplication, QResizeEvent, QTextOption
from qtpy.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from callboard.panel.records import CallRecord
from callboard.panel.status import CallStatus, SceneChange, UndoAnswer
from callboard_ui import texts
from callboard_ui.calls_model import CallRow
from callboard_ui.icons import icon
from callboard_ui.labels import Elided, as_tip, plain, tint
from callboard_ui.link import Link
from callboard_ui.shown_text import clock, duration, one_line, shown, visible
from callboard_ui.theme import bold, em, fixed

#: Width in ems above which every known fact about a call fits.
_WIDE = 24.0
#: Maximum height in ems of the details, unless the artist makes them taller.
_HIGH = 14.0


class CallDetails(QWidget):
    """The details of one call. Use it on Qt's thread."""

    def __init__(self, link: Link, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._row: CallRow | None = None
        self._record: CallRecord | None = None
        self._title = Elided(self)
        self._title.setFont(bold(self.font()))
        self._facts = plain(self, wrap=True)
        self._technical = plain(self, wrap=True)
        for label in (self._facts, self._technical):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._problem = QPlainTextEdit(self)
        self._problem.setAccessibleName(self.tr("Error"))
        self._arguments_label = QLabel(self.tr("Arguments"), self)
        self._arguments = QPlainTextEdit(self)
        self._arguments.setAccessibleName(self.tr("Arguments"))
        self._arguments_label.setBuddy(self._arguments)
        for text in (self._problem, self._arguments):
            text.setReadOnly(True)
            text.setTabChangesFocus(True)
            text.setFont(fixed(self.font()))
            text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
            text.setMinimumHeight(em(self, 3))
        self._problem.setMaximumHeight(em(self, 6))
        self.cancel = QPushButton(self.tr("Cancel Call"), self)
        self.cancel.setToolTip(self.tr("Stop this call and undo its changes"))
        self.cancel.clicked.connect(self._cancel)
        self.select = QPushButton(self.tr("Select"), self)
        self.select.setToolTip(self.tr("Select what is left of it in the scene"))
        self.select.clicked.connect(self._select)
        self.undo = QPushButton(self)
        self.undo.clicked.connect(self._undo)
        self.copy = QToolButton(self)
        self.copy.setToolTip(self.tr("Copy all of this as text"))
        self.copy.setAccessibleName(self.tr("Copy all of this as text"))
        self.copy.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.copy.clicked.connect(self._copy)
        self._answer = plain(self, wrap=True)
        self._answer.hide()
        buttons = QHBoxLayout()
        for button in (self.cancel, self.select, self.undo):
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.addStretch(1)
        buttons.addWidget(self.copy)
        box = QVBoxLayout(self)
        box.setContentsMargins(em(self, 0.3), em(self, 0.3), em(self, 0.3), em(self, 0.3))
        box.setSpacing(em(self, 0.3))
        box.addWidget(self._title)
        box.addWidget(self._facts)
        box.addWidget(self._technical)
        box.addWidget(self._problem)
        box.addWidget(self._arguments_label)
        box.addWidget(self._arguments, 1)
        box.addWidget(self._answer)
        box.addLayout(buttons)
        self._draw_icons()

    @property
    def call_id(self) -> str | None:
        return None if self._row is None else self._row.id

    def record_of(self, call_id: str) -> CallRecord | None:
        """Return the record that was read for this call, or None."""
        record = self._record
        return record if record is not None and record.call_id == call_id else None

    def show_running(self, row: CallRow, title: str, word: str, call: CallStatus) -> None:
        """Show a running or waiting call. ``title`` describes the call. ``word`` is its state."""
        self._begin(row, title)
        facts = [f"{word}, {duration((time() - row.started) * 1000)}", visible(row.client)]
        if row.share is not None:
            facts.append(f"{row.share:.0%}")
        if row.message:
            facts.append(visible(row.message))
        self._show_facts(facts, [visible(row.tool)])
        self._problem.hide()
        self._show_arguments(call.arguments)
        self._offer(cancel=True)

    def show_ended(
        self,
        row: CallRow,
        title: str,
        word: str,
        record: CallRecord | None,
        changes: Sequence[SceneChange] = (),
    ) -> None:
        """Show a call that has ended. ``record`` is None until it has been read. ``changes`` has
        the changes that this server's calls made, oldest first."""
        self._begin(row, title)
        self._record = record
        facts = [word, visible(row.client), clock(row.started)]
        technical = [visible(row.tool)]
        if row.took_ms is not None:
            facts.append(self.tr("took {0}").format(duration(row.took_ms)))
        if row.queue_ms is not None:
            technical.append(self.tr("waited {0}").format(duration(row.queue_ms)))
        if row.main_ms is not None:
            technical.append(self.tr("main thread {0}").format(duration(row.main_ms)))
        self._show_facts(facts, technical)
        error = row.message if record is None else record.error_message
        code = None if record is None else record.error_code
        self._problem.setVisible(bool(error))
        _put(self._problem, visible(f"{code}: {error}" if code is not None else error or ""))
        if record is not None:
            self._show_arguments(record.arguments)
        self._offer(changes=changes)

    def say(self, text: str, *, bad: bool = False) -> None:
        """Show the outcome of a button's action."""
        self._answer.setText(text)
        tint(self._answer, "bad" if bad else "dim")
        self._answer.setVisible(bool(text))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw_icons()

    def _begin(self, row: CallRow, title: str) -> None:
        if self._row is None or self._row.id != row.id:
            self.say("")
            _put(self._arguments, "")
            self._record = None
        self._row = row
        self._title.show_text(title)

    def _show_facts(self, facts: Sequence[str], technical: Sequence[str]) -> None:
        self._facts.setText(" · ".join(fact for fact in facts if fact))
        self._technical.setText(" · ".join(fact for fact in technical if fact))
        self._facts.setToolTip(as_tip(self._technical.text()))
        self._arrange()

    def _arrange(self) -> None:
        """Hide the technical facts when the dock is narrow, and make the rest tall enough that
        nothing is cut off."""
        self._technical.setVisible(self.width() > em(self, _WIDE))
        box = self.layout()
        # The width is meaningless before the widget is shown.
        if box is not None and self.isVisible():
            needed = box.minimumHeightForWidth(self.width())
            self.setMinimumHeight(max(0, min(needed, em(self, _HIGH))))

    def _show_arguments(self, arguments: object) -> None:
        _put(self._arguments, shown(arguments))

    def _offer(self, *, cancel: bool = False, changes: Sequence[SceneChange] = ()) -> None:
        self.cancel.setVisible(cancel)
        at = next((n for n, one in enumerate(changes) if one.call == self.call_id), None)
        change = None if at is None else changes[at]
        self.select.setVisible(change is not None and bool(change.objects) and not change.undone)
        self.undo.setVisible(change is not None and bool(change.undo_id) and not change.undone)
        after = [one for one in changes[(at or 0) + 1 :] if one.undo_id and not one.undone]
        if after:
            self.undo.setText(self.tr("Undo back to here"))
            tip = self.tr("Undo this and all later changes, in number: {0}").format(len(after) + 1)
        else:
            self.undo.setText(self.tr("Undo"))
            tip = self.tr("Undo what this call changed, if nothing changed since")
        self.undo.setToolTip(tip)
        serving = self._link.controls.status.snapshot.serving
        for button in (self.cancel, self.select, self.undo):
            button.setEnabled(serving)
        self._arrange()

    def _draw_icons(self) -> None:
        palette = self.palette()
        self.cancel.setIcon(icon("cross", palette))
        self.select.setIcon(icon("target", palette))
        self.undo.setIcon(icon("undo", palette))
        self.copy.setIcon(icon("copy", palette))

    def _cancel(self) -> None:
        if self._row is not None:
            self._link.controls.cancel(self._row.id)
            self.say(self.tr("Asked to stop"))

    def _select(self) -> None:
        call_id = self.call_id
        if call_id is None:
            return

        def answered(problem: str | None) -> None:
            if self.call_id == call_id:
                done = self.tr("Selected in the scene")
                self.say(done if problem is None else one_line(problem), bad=problem is not None)

        self._link.controls.changes.select(call_id, self._link.answer(answered))

    def _undo(self) -> None:
        call_id = self.call_id
        if call_id is None:
            return
        self.undo.setEnabled(False)

        def answered(answer: UndoAnswer) -> None:
            self.undo.setEnabled(True)
            if self.call_id == call_id:
                self.say(texts.undo_outcome(answer, self.tr), bad=answer.left > 0)

        self._link.controls.changes.undo_back(call_id, self._link.answer(answered))

    def _copy(self) -> None:
        parts = [self._title.text(), self._facts.text(), self._technical.text()]
        if self._problem.isVisible():
            parts.append(self._problem.toPlainText())
        parts.append(self._arguments.toPlainText())
        QGuiApplication.clipboard().setText("\n".join(parts))
        self.say(self.tr("Copied"))


def _put(text: QPlainTextEdit, content: str) -> None:
    """Replace the text only if it differs, because replacing it loses the selection and scroll
    position."""
    if text.toPlainText() != content:
        text.setPlainText(content)
