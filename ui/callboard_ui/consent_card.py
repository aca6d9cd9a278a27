"""The card with one question for the artist. It shows the client, the tool, and everything that the
call would do."""

from __future__ import annotations

from collections.abc import Callable
from time import time

from qtpy.QtCore import QEvent, QPoint, Qt, QTimer
from qtpy.QtGui import QResizeEvent, QShowEvent, QTextOption
from qtpy.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from callboard.panel.controls import Decision
from callboard.panel.status import QuestionStatus
from callboard_ui import texts as words
from callboard_ui.icons import icon
from callboard_ui.labels import plain, tint
from callboard_ui.shown_text import MOST, arguments_text, one_line
from callboard_ui.theme import bold, em, fixed

#: Milliseconds after a card has appeared or moved during which it can't be accepted, so that a
#: stray click allows nothing.
GUARD_MS = 500

#: Maximum number of lines of a card's text that are visible without scrolling.
_MOST_LINES = 14

Answered = Callable[[str, Decision], None]


class ConsentCard(QFrame):
    """One question. ``answered`` receives the question's id and the artist's decision. Use it on
    Qt's thread."""

    def __init__(
        self,
        question: QuestionStatus,
        answered: Answered,
        parent: QWidget | None = None,
        title: str = "",
    ) -> None:
        """Make the card. ``title`` is the tool's human-readable title."""
        super().__init__(parent)
        self.question = question
        self._answered = answered
        self.setFrameShape(QFrame.Shape.StyledPanel)
        client, tool = one_line(question.client), one_line(question.tool)
        asks = self.tr("{0} asks to call {1}") if tool else self.tr("{0} asks to connect")
        self.setAccessibleName(asks.format(client, tool))
        self._glyph = QLabel(self)
        self._title = plain(self, wrap=True)
        self._title.setFont(bold(self.font()))
        self._title.setText(self.tr("{0} asks").format(client))
        self._left = plain(self)
        self._why = plain(self, wrap=True)
        called = f"{one_line(title)} ({tool})" if title else tool or client
        self._why.setText(f"{called} {words.reason(self.question, self.tr)}.")
        self._waited = False
        self._more = plain(self, wrap=True)
        self.text = _Text(arguments_text(question.arguments), self._show_more, self)
        self.text.setAccessibleName(self.tr("Arguments") if tool else self.tr("About it"))
        self.refuse = self._button(self.tr("Refuse"), "refuse")
        self.once = self._button(self.tr("Allow once") if tool else self.tr("Approve"), "allow")
        self.session = self._button(self.tr("For session"), "allow_session")
        self.session.setAccessibleName(self.tr("Allow for this session"))
        self.session.setToolTip(self.tr("Allow, and don't ask again until this client disconnects"))
        self.more = QPushButton(self.tr("For project"), self)
        self.more.setAutoDefault(False)
        self.more.setToolTip(self.tr("Allow, and don't ask again in this project"))
        self.more.setAccessibleName(self.tr("Allow for this project"))
        menu = QMenu(self.more)
        self.for_tool = menu.addAction(self.tr("This tool, for this project"))
        self.for_tool.triggered.connect(lambda checked=False: self._say("allow_tool"))
        self.for_project = menu.addAction(self._all_of_it())
        self.for_project.triggered.connect(lambda checked=False: self._say("allow_project"))
        self.more.setMenu(menu)
        self.session.setVisible("allow_session" in question.choices)
        self.more.setVisible("allow_project" in question.choices)
        self._guard = QTimer(self)
        self._guard.setSingleShot(True)
        self._guard.setInterval(GUARD_MS)
        self._guard.timeout.connect(self._guard_over)
        self._lay_out()
        self._draw()
        self.tick()
        self.guard()

    def guard(self) -> None:
        """Disable the yes buttons for a moment."""
        self._waited = False
        self._arm()
        self._guard.start()

    def tick(self) -> None:
        """Show the time left to answer."""
        if not self.question.deadline:
            return
        left = max(0, round(self.question.deadline - time()))
        self._left.setText(f"{left // 60}:{left % 60:02d}")
        self._left.setToolTip(self.tr("Refused if there is no answer by then"))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._draw()

    def _all_of_it(self) -> str:
        texts = {
            "script": self.tr("All of this client's code, for this project"),
            "destructive": self.tr("All deleting and replacing, for this project"),
            "outside_roots": self.tr("All writing outside roots, for this project"),
        }
        return texts.get(self.question.subject, self.tr("All of this kind, for this project"))

    def _button(self, text: str, answer: Decision) -> QPushButton:
        button = QPushButton(text, self)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: self._say(answer))
        return button

    def _say(self, answer: Decision) -> None:
        for button in (self.refuse, self.once, self.session, self.more):
            button.setEnabled(False)
        self._guard.stop()
        self._answered(self.question.id, answer)

    def _guard_over(self) -> None:
        self._waited = True
        self._arm()

    def _arm(self) -> None:
        """Enable the yes buttons once the artist has been able to read everything."""
        ready = self._waited and self.text.end_seen
        self.once.setEnabled(ready)
        self.session.setEnabled(ready)
        self.more.setEnabled(ready)

    def _show_more(self) -> None:
        left_out, below = self.text.left_out, self.text.below
        if left_out:
            notice = self.tr("… {0} more characters than can be shown: this can only be refused")
            self._more.setText(notice.format(f"{left_out:,}"))
        elif below and not self.text.end_seen:
            notice = self.tr("… {0} more characters: scroll to the end to allow it")
            self._more.setText(notice.format(f"{below:,}"))
        else:
            # Leave a blank line, so that nothing moves under the pointer.
            self._more.setText(" " if self._more.text() else "")
        self._more.setVisible(bool(self._more.text()))
        self._arm()

    def _lay_out(self) -> None:
        space = em(self, 0.3)
        head = QHBoxLayout()
        head.setSpacing(space)
        head.addWidget(self._glyph, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self._title, 1)
        head.addWidget(self._left, 0, Qt.AlignmentFlag.AlignTop)
        buttons = QHBoxLayout()
        buttons.setSpacing(space)
        buttons.addWidget(self.refuse)
        buttons.addStretch(1)
        buttons.addWidget(self.once)
        # Put these buttons on a separate row, because a narrow dock would cut them off if they were
        # next to the others.
        lasting = QHBoxLayout()
        lasting.setSpacing(space)
        lasting.addStretch(1)
        lasting.addWidget(self.session)
        lasting.addWidget(self.more)
        box = QVBoxLayout(self)
        box.setContentsMargins(space, space, space, space)
        box.setSpacing(space)
        box.addLayout(head)
        box.addWidget(self._why)
        box.addWidget(self.text)
        box.addWidget(self._more)
        box.addLayout(buttons)
        box.addLayout(lasting)
        self._more.hide()

    def _draw(self) -> None:
        size = em(self)
        self._glyph.setPixmap(icon("hand", self.palette(), "warn").pixmap(size, size))
        tint(self._left, "dim")
        tint(self._more, "warn")


class _Text(QPlainTextEdit):
    """A text field as high as its content, up to a limit. ``moved`` is called when the visible part
    of the text may have changed."""

    def __init__(self, text: str, moved: Callable[[], None], parent: QWidget) -> None:
        super().__init__(parent)
        self._moved = moved
        self._settled = False
        #: Number of characters at the end that are left out and can't be reached by scrolling.
        self.left_out = max(0, len(text) - MOST)
        #: Number of characters below the visible part.
        self.below = 0
        #: True once the end of the whole text has been visible.
        self.end_seen = False
        self.setPlainText(text[:MOST])
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setFont(fixed(parent.font()))
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.verticalScrollBar().valueChanged.connect(lambda value: self._measure())
        self.verticalScrollBar().rangeChanged.connect(lambda least, most: self._measure())
        self.document().documentLayout().documentSizeChanged.connect(lambda size: self._fit())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # The visible part is known only after the layout.
        QTimer.singleShot(0, self._settle)

    def _settle(self) -> None:
        self._settled = True
        self._measure()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        self._measure()

    def _fit(self) -> None:
        # Count the lines after wrapping.
        lines = min(_MOST_LINES, max(2, round(self.document().size().height())))
        line = self.fontMetrics().lineSpacing()
        # Some styles have wide frames. Qt needs two more pixels, or it scrolls a text that fits.
        around = round(self.document().documentMargin()) + self.frameWidth() + 1
        self.setFixedHeight(lines * line + 2 * around)

    def _measure(self) -> None:
        view = self.viewport()
        if (
            not self._settled
            or not self.isVisible()
            or view.height() < self.fontMetrics().lineSpacing()
        ):
            return
        corner = QPoint(view.width() - 1, view.height() - 1)
        last = self.document().characterCount() - 1
        self.below = max(0, last - self.cursorForPosition(corner).position())
        bar = self.verticalScrollBar()
        if not self.left_out and bar.value() >= bar.maximum():
            self.below, self.end_seen = 0, True
        self._moved()
