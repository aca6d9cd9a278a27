"""The tab with the questions that are waiting for the artist, the rules, and the clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from qtpy.QtCore import QEvent, Qt, QTimer
from qtpy.QtGui import QKeyEvent, QWheelEvent
from qtpy.QtWidgets import (
    QApplication,
    QComboBox,
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from callboard.panel.controls import ConsentPolicy, Subject
from callboard.panel.status import QuestionStatus, Snapshot
from callboard_ui.clients_box import ClientsBox
from callboard_ui.consent_card import Answered, ConsentCard
from callboard_ui.icons import icon
from callboard_ui.labels import plain, tint
from callboard_ui.link import Link
from callboard_ui.theme import em


class ConsentCards(QWidget):
    """The cards for the waiting questions, oldest first. New cards are added below, so that none
    moves under the pointer."""

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

    def show_questions(
        self, questions: Sequence[QuestionStatus], titles: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Show exactly these questions. ``titles`` are the tools' titles by wire name."""
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
                card = ConsentCard(question, self._answered, self, titles.get(question.tool, ""))
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
    """The Consent tab. Use it on Qt's thread."""

    def __init__(self, link: Link, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self.policies: dict[str, QComboBox] = {}
        self.cards = ConsentCards(link.controls.answer, self)
        self._empty = plain(self, wrap=True)
        self._empty.setText(self.tr("No questions are waiting."))
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.rules = QPushButton(self.tr("Rules and clients…"), self)
        self.rules.setToolTip(
            self.tr(
                "What needs your answer, what is allowed or refused without it, and which clients"
            )
        )
        self.rules.setAutoDefault(False)
        self.rules.setCheckable(True)
        self.rules.toggled.connect(lambda on: self._share_room())
        self.clients = ClientsBox(link, self)
        self._lay_out()
        self._draw()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show a new state."""
        self.cards.show_questions(snapshot.questions, titles_of(snapshot))
        self._share_room()
        self.clients.show_snapshot(snapshot)
        for subject, policy in snapshot.policies:
            combo = self.policies.get(subject)
            if combo is not None and combo.currentData() != policy:
                combo.setCurrentIndex(combo.findData(policy))

    def _share_room(self) -> None:
        """Give the rules all the space when no question is waiting."""
        asked, rules = bool(self.cards.cards), self.rules.isChecked()
        self._area.setVisible(asked)
        self._empty.setVisible(not asked and not rules)
        self._rules.setVisible(rules)

    def close_down(self) -> None:
        self.cards.close_down()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._draw()

    def _lay_out(self) -> None:
        space = em(self, 0.3)
        area = area_of(self.cards, self)
        self._rules = area_of(inner := QWidget(self), self)
        self._policies = QFrame(inner)
        policies = QGridLayout(self._policies)
        policies.setContentsMargins(0, 0, 0, 0)
        policies.setSpacing(space)
        subjects: tuple[tuple[Subject, str], ...] = (
            ("script", self.tr("Code of its own")),
            ("destructive", self.tr("Deleting, replacing")),
            ("outside_roots", self.tr("Writing outside roots")),
        )
        for number, (subject, title) in enumerate(subjects):
            combo = self._policy(subject, title)
            label = QLabel(title, self._policies)
            label.setBuddy(combo)
            policies.addWidget(label, number, 0)
            policies.addWidget(combo, number, 1)
        policies.setColumnStretch(1, 1)
        box = QVBoxLayout(self)
        box.setContentsMargins(space, space, space, space)
        box.setSpacing(2 * space)
        box.addWidget(self._empty, 1)
        box.addWidget(area, 1)
        self._area = area
        box.addWidget(self.rules, 0, Qt.AlignmentFlag.AlignLeft)
        box.addWidget(self._rules, 2)
        self._rules.hide()
        below = QVBoxLayout(inner)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(3 * space)
        below.addWidget(self._policies)
        below.addWidget(self.clients)
        below.addStretch(1)

    def _policy(self, subject: Subject, title: str) -> QComboBox:
        choices: tuple[tuple[ConsentPolicy, str], ...] = (
            ("ask", self.tr("Ask always")),
            ("ask_once", self.tr("Once a session")),
            ("allow", self.tr("Allow")),
            ("refuse", self.tr("Refuse")),
        )
        combo = _DeliberateComboBox(self._policies)
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


class _DeliberateComboBox(QComboBox):
    """A combo box that changes only when the artist opens it and chooses an item. Neither the mouse
    wheel nor a stray key press changes it."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        opens = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F4)
        if event.key() in (*opens, Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.showPopup()
        else:
            event.ignore()


def area_of(inner: QWidget, parent: QWidget) -> QScrollArea:
    """Return an area that scrolls ``inner`` only vertically. The content is as wide as the area."""
    area = QScrollArea(parent)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inner)
    return area


def titles_of(snapshot: Snapshot) -> dict[str, str]:
    """Return all tools' titles by wire name, or nothing while no question is waiting."""
    if not snapshot.questions:
        return {}
    return {tool.name: tool.title for tool in snapshot.tools}


class ConsentNotice(QWidget):
    """A small window with the cards, shown while the panel isn't visible. The window doesn't take
    the keyboard focus, so the artist can keep typing in the host."""

    def __init__(self, link: Link, owner: QWidget) -> None:
        super().__init__(owner, Qt.WindowType.Tool)
        self._owner = owner
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setWindowTitle(self.tr("Callboard: a client asks"))
        self.setWindowIcon(icon("hand", self.palette(), "warn"))
        self.cards = ConsentCards(link.controls.answer, self)
        space = em(self, 0.4)
        self._area = area_of(self.cards, self)
        box = QVBoxLayout(self)
        box.setContentsMargins(space, space, space, space)
        box.addWidget(self._area)
        self._dismissed: set[str] = set()

    def show_questions(
        self, questions: Sequence[QuestionStatus], titles: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Show the window for new questions, and hide it when there are none."""
        new = {question.id for question in questions} - self._dismissed
        self.cards.show_questions(questions, titles)
        if not questions:
            self._dismissed.clear()
            self.hide()
        elif new and not self.isVisible():
            self.resize(em(self, 26), self._height())
            self._place()
            self.show()
            # The cards' height is known only after the layout.
            QTimer.singleShot(0, self._fit)
            QApplication.alert(self._owner.window())
        self._dismissed |= new if self.isVisible() else set()

    def _fit(self) -> None:
        self.resize(self.width(), self._height())
        self._place()

    def _height(self) -> int:
        """Return the height of the cards, limited to the screen's height. Beyond that the cards
        scroll."""
        screen = self._owner.window().screen().availableGeometry()
        wanted = self.cards.sizeHint().height() + 2 * em(self)
        return min(wanted, screen.height() - 6 * em(self))

    def _place(self) -> None:
        """Move to the lower right corner of the host's window."""
        window = self._owner.window()
        corner = window.frameGeometry().bottomRight()
        screen = window.screen().availableGeometry()
        x = min(corner.x(), screen.right()) - self.width() - em(self)
        y = min(corner.y(), screen.bottom()) - self.height() - 2 * em(self)
        self.move(max(x, screen.left()), max(y, screen.top()))
