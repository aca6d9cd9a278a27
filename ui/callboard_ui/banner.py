"""The line above the tabs that names the client waiting for the artist's answer."""

from __future__ import annotations

from collections.abc import Callable

from qtpy.QtCore import Qt
from qtpy.QtWidgets import QHBoxLayout, QPushButton, QWidget

from callboard.panel.status import Snapshot
from callboard_ui import texts
from callboard_ui.labels import Elided, tint
from callboard_ui.theme import em


class Banner(QWidget):
    """The line above the tabs. It is always present, so nothing moves under the pointer, and it
    never takes the keyboard focus. ``show`` is called when the artist wants to see the question.
    Use it on Qt's thread."""

    def __init__(self, show: Callable[[], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._asked = False
        self.text = Elided(self)
        self.button = QPushButton(self.tr("Review"), self)
        self.button.setToolTip(self.tr("Show the question"))
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
        self.show_snapshot(Snapshot())

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show how many questions are waiting and which client asked first."""
        self._asked = bool(snapshot.questions)
        self.text.show_text(texts.waiting(snapshot, self.tr))
        self.button.setVisible(self._asked)
        self._draw()

    def _draw(self) -> None:
        tint(self.text, "warn" if self._asked else "dim")
