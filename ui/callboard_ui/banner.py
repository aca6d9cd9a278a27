"""The line above the tabs that says who waits for the artist's word."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from qtpy.QtCore import QEvent, Qt
from qtpy.QtWidgets import QHBoxLayout, QPushButton, QWidget

from callboard.panel.status import QuestionStatus
from callboard_ui.labels import Elided
from callboard_ui.look import em, tint
from callboard_ui.shown_text import one_line


class Banner(QWidget):
    """Qt's thread. It is always there and never takes the focus by itself: nothing moves under a
    pointer, and whoever types goes on typing. ``look`` is called where the artist wants to see."""

    def __init__(self, show: Callable[[], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._asked = False
        self.text = Elided(self)
        self.button = QPushButton(self.tr("Look"), self)
        self.button.setToolTip(self.tr("Show what is asked"))
        self.button.setAutoDefault(False)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(lambda: show())
        room = self.button.sizePolicy()
        room.setRetainSizeWhenHidden(True)
        self.button.setSizePolicy(room)
        space = em(self, 0.3)
        box = QHBoxLayout(self)
        box.setContentsMargins(2 * space, space, 2 * space, space)
        box.setSpacing(space)
        box.addWidget(self.text, 1)
        box.addWidget(self.button)
        self.show_questions(())

    def show_questions(
        self, questions: Sequence[QuestionStatus], titles: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Says how many wait, and who is first. ``titles`` are tools' by their wire names."""
        self._asked = bool(questions)
        if not questions:
            self.text.show_text(self.tr("Nobody asks for anything"))
        elif len(questions) == 1:
            who, tool = one_line(questions[0].client), one_line(questions[0].tool)
            title = one_line(titles.get(questions[0].tool, ""))
            asks = self.tr("{0} asks: {1}") if title else self.tr("{0} asks to call {1}")
            self.text.show_text(asks.format(who, title or tool))
        else:
            who = one_line(questions[0].client)
            self.text.show_text(self.tr("{0} questions, first {1}").format(len(questions), who))
        self.button.setVisible(self._asked)
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()

    def _draw(self) -> None:
        tint(self.text, "warn" if self._asked else "dim")
