"""What waits for the artist's word, and what was decided for good."""

from __future__ import annotations

from collections.abc import Sequence

from qtpy.QtCore import QEvent, Qt, QTimer
from qtpy.QtWidgets import (
    QApplication,
    QComboBox,
    QFrame,
    QGridLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from callboard.panel.controls import ConsentPolicy, Subject
from callboard.panel.status import QuestionStatus, Snapshot
from callboard_ui.consent_card import Answered, ConsentCard
from callboard_ui.icons import icon
from callboard_ui.labels import plain
from callboard_ui.link import Link
from callboard_ui.look import em, tint


class ConsentCards(QWidget):
    """The cards that wait, oldest first: new ones come below, so none moves under the pointer."""

    def __init__(self, answered: Answered, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answered = answered
        self.cards: list[ConsentCard] = []
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(em(self, 0.4))
        self._box.addStretch(1)
        self._clock = QTimer(self)
        self._clock.setInterval(1000)
        self._clock.timeout.connect(self._tick)

    def show_questions(self, questions: Sequence[QuestionStatus]) -> None:
        """Shows these and no others."""
        wanted = {question.id: question for question in questions}
        stay = [card for card in self.cards if card.question.id in wanted]
        for card in self.cards:
            if card not in stay:
                self._box.removeWidget(card)
                card.hide()
                card.deleteLater()
        if len(stay) < len(self.cards):
            for card in stay:
                card.guard()
        self.cards = stay
        there = {card.question.id for card in stay}
        for question in questions:
            if question.id not in there:
                card = ConsentCard(question, self._answered, self)
                self.cards.append(card)
                self._box.insertWidget(self._box.count() - 1, card)
        if self.cards and not self._clock.isActive():
            self._clock.start()
        elif not self.cards:
            self._clock.stop()

    def close_down(self) -> None:
        self._clock.stop()

    def _tick(self) -> None:
        for card in self.cards:
            card.tick()


class ConsentTab(QWidget):
    """Qt's thread."""

    def __init__(self, link: Link, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self.policies: dict[str, QComboBox] = {}
        self.cards = ConsentCards(link.controls.answer, self)
        self._empty = plain(self, wrap=True)
        self._empty.setText(self.tr("Nobody asks for anything."))
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._lay_out()
        self._draw()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Takes over a new state."""
        self.cards.show_questions(snapshot.questions)
        self._empty.setVisible(not snapshot.questions)
        for subject, policy in snapshot.policies:
            combo = self.policies.get(subject)
            if combo is not None and combo.currentData() != policy:
                combo.setCurrentIndex(combo.findData(policy))

    def close_down(self) -> None:
        self.cards.close_down()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._draw()

    def _lay_out(self) -> None:
        space = em(self, 0.3)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(self.cards)
        policies = QGridLayout()
        policies.setSpacing(space)
        subjects: tuple[tuple[Subject, str], ...] = (
            ("script", self.tr("Code of its own")),
            ("destructive", self.tr("Deleting, replacing")),
            ("outside_roots", self.tr("Writing outside roots")),
        )
        for number, (subject, title) in enumerate(subjects):
            combo = self._policy(subject, title)
            label = QLabel(title, self)
            label.setBuddy(combo)
            policies.addWidget(label, number, 0)
            policies.addWidget(combo, number, 1)
        policies.setColumnStretch(1, 1)
        box = QVBoxLayout(self)
        box.setContentsMargins(space, space, space, space)
        box.setSpacing(2 * space)
        box.addWidget(self._empty, 1)
        box.addWidget(area, 1)
        box.addLayout(policies)
        self._area = area

    def _policy(self, subject: Subject, title: str) -> QComboBox:
        choices: tuple[tuple[ConsentPolicy, str], ...] = (
            ("ask", self.tr("Ask always")),
            ("ask_once", self.tr("Ask once a session")),
            ("allow", self.tr("Allow")),
            ("refuse", self.tr("Refuse")),
        )
        combo = QComboBox(self)
        combo.setAccessibleName(title)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        combo.setMinimumContentsLength(6)
        for policy, text in choices:
            combo.addItem(text, policy)

        def chosen(index: int) -> None:
            self._link.controls.set_consent_policy(subject, combo.itemData(index))

        combo.activated.connect(chosen)
        self.policies[subject] = combo
        return combo

    def _draw(self) -> None:
        tint(self._empty, "dim")


class ConsentNotice(QWidget):
    """The cards in a small window of their own, while the panel can't be seen. It takes no focus:
    whoever types goes on typing."""

    def __init__(self, link: Link, owner: QWidget) -> None:
        super().__init__(owner, Qt.WindowType.Tool)
        self._owner = owner
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setWindowTitle(self.tr("Callboard: a client asks"))
        self.setWindowIcon(icon("hand", self.palette(), "warn"))
        self.cards = ConsentCards(link.controls.answer, self)
        space = em(self, 0.4)
        box = QVBoxLayout(self)
        box.setContentsMargins(space, space, space, space)
        box.addWidget(self.cards)
        self._dismissed: set[str] = set()

    def show_questions(self, questions: Sequence[QuestionStatus]) -> None:
        """Comes up for questions that are new, goes when there are none."""
        new = {question.id for question in questions} - self._dismissed
        self.cards.show_questions(questions)
        if not questions:
            self._dismissed.clear()
            self.hide()
        elif new and not self.isVisible():
            self.resize(em(self, 26), self.sizeHint().height())
            self._place()
            self.show()
            # How high the cards are shows once they are laid out in that width.
            QTimer.singleShot(0, self._fit)
            QApplication.alert(self._owner.window())
        self._dismissed |= new if self.isVisible() else set()

    def _fit(self) -> None:
        self.resize(self.width(), self.sizeHint().height())
        self._place()

    def _place(self) -> None:
        """The lower right corner of the host's window."""
        window = self._owner.window()
        corner = window.frameGeometry().bottomRight()
        screen = window.screen().availableGeometry()
        corner.setX(min(corner.x(), screen.right()) - self.width() - em(self))
        corner.setY(min(corner.y(), screen.bottom()) - self.height() - 2 * em(self))
        self.move(corner)
