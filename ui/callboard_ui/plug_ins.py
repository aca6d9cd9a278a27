"""The missing capabilities that a plug-in would provide, each with the reason and a button that
loads the plug-in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from qtpy.QtCore import Qt
from qtpy.QtWidgets import QGridLayout, QPushButton, QWidget

from callboard.panel.status import CapabilityStatus
from callboard_ui.labels import Tinted, plain, tint
from callboard_ui.link import Link
from callboard_ui.shown_text import visible
from callboard_ui.theme import em


class PlugIns(QWidget):
    """The missing capabilities. The widget is hidden if none is missing or no known plug-in
    provides one. Use it on Qt's thread."""

    def __init__(self, link: Link, titles: Mapping[str, str], parent: QWidget) -> None:
        super().__init__(parent)
        self._link = link
        self._titles = titles
        self._shown: tuple[CapabilityStatus, ...] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(em(self, 0.3))
        self._grid.setColumnStretch(0, 1)
        #: Labels by capability.
        self.words: dict[str, Tinted] = {}
        self.buttons: dict[str, QPushButton] = {}
        self.hide()

    def show_missing(self, capabilities: Sequence[CapabilityStatus]) -> None:
        """Show the capabilities that are missing now."""
        missing = tuple(one for one in capabilities if not one.offered and one.plug_in)
        if missing == self._shown:
            return
        self._shown = missing
        for widget in (*self.words.values(), *self.buttons.values()):
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self.words, self.buttons = {}, {}
        for number, one in enumerate(missing):
            title = self._titles.get(one.name, one.name)
            words = plain(self, wrap=True)
            words.setText(visible(self.tr("{0}: {1}").format(title, one.advice)))
            tint(words, "dim")
            self._grid.addWidget(words, number, 0)
            self.words[one.name] = words
            if one.loadable:
                self._grid.addWidget(self._button(one), number, 1, Qt.AlignmentFlag.AlignTop)
        self.setVisible(bool(missing))

    def _button(self, one: CapabilityStatus) -> QPushButton:
        button = QPushButton(self.tr("Load"), self)
        button.setAccessibleName(self.tr("Load {0}").format(visible(one.plug_in)))
        button.setToolTip(visible(one.plug_in))
        button.clicked.connect(partial(self._load, one.name))
        self.buttons[one.name] = button
        return button

    def _load(self, capability: str, *_: object) -> None:
        self.buttons[capability].setEnabled(False)
        reported = self._link.answer(partial(self._loaded, capability))
        self._link.controls.load_plug_in(capability, reported)

    def _loaded(self, capability: str, problem: str | None) -> None:
        # If loading succeeds, the row disappears on its own.
        if problem is not None and capability in self.words:
            self.words[capability].setText(visible(problem))
            tint(self.words[capability], "bad")
            self.buttons[capability].setEnabled(True)
