"""The tab with the skills and prompts, their sources, and their problems."""

from __future__ import annotations

from qtpy.QtCore import QEvent, Qt, QUrl
from qtpy.QtGui import QDesktopServices, QGuiApplication, QShowEvent
from qtpy.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from callboard.panel.status import PromptsStatus, PromptStatus, SkillStatus, Snapshot
from callboard_ui.icons import icon
from callboard_ui.labels import plain, tint
from callboard_ui.link import Link
from callboard_ui.row_delegate import RowDelegate
from callboard_ui.rows import Row, RowsModel
from callboard_ui.shown_text import one_line, visible
from callboard_ui.theme import em


class SkillsTab(QWidget):
    """The Skills tab. Use it on Qt's thread."""

    def __init__(self, link: Link, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._skills: tuple[SkillStatus, ...] = ()
        self._prompts = PromptsStatus()
        self._read_for: tuple[SkillStatus, ...] | None = None
        self._scopes = {
            "bundled": self.tr("ships"),
            "user": self.tr("yours"),
            "project": self.tr("project"),
            "site": self.tr("the site's"),
        }
        self.search = QLineEdit(self)
        self.search.setPlaceholderText(self.tr("Filter skills and prompts"))
        self.search.setAccessibleName(self.tr("Filter skills and prompts"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(lambda text: self._fill())
        self.model = RowsModel((self.tr("Skill"), self.tr("State")), self)
        self.view = QTreeView(self)
        self.view.setModel(self.model)
        self.view.setAccessibleName(self.tr("Skills"))
        self.view.setHeaderHidden(True)
        self.view.setUniformRowHeights(True)
        self.view.setItemDelegate(RowDelegate(self.view))
        self.view.setAllColumnsShowFocus(True)
        self.view.setIndentation(em(self, 0.9))
        header = self.view.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.view.selectionModel().currentRowChanged.connect(lambda new, old: self._selected())
        self.about = plain(self, wrap=True)
        self.about.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.reload = QPushButton(self.tr("Reload"), self)
        self.reload.setToolTip(self.tr("Reload the skills from disk"))
        self.reload.clicked.connect(self._reload)
        self.folder = QPushButton(self.tr("Open Folder"), self)
        self.folder.setToolTip(self.tr("Open the selected skill's folder"))
        self.folder.clicked.connect(self._open_folder)
        for button in (self.reload, self.folder):
            button.setAutoDefault(False)
        self._note = plain(self, wrap=True)
        self._note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._lay_out()
        self._draw()
        self._selected()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show a new state."""
        if snapshot.skills is not self._skills:
            self._skills = snapshot.skills
            if self.isVisible():
                self._read_prompts()
                self._fill()

    # -- Qt's methods ---------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._read_prompts()
        self._fill()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._draw()

    # -- internals ------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        space = em(self, 0.3)
        buttons = QHBoxLayout()
        buttons.setSpacing(space)
        buttons.addWidget(self.reload)
        buttons.addWidget(self.folder)
        buttons.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(space, space, space, space)
        box.setSpacing(space)
        box.addWidget(self.search)
        box.addWidget(self.view, 1)
        box.addWidget(self._note)
        box.addWidget(self.about)
        box.addLayout(buttons)

    def _draw(self) -> None:
        self.model.set_look(self.palette(), self.font())
        self.reload.setIcon(icon("reload", self.palette()))
        self.folder.setIcon(icon("folder", self.palette()))
        tint(self._note, "dim")

    def _read_prompts(self) -> None:
        if self._read_for is not self._skills:
            self._read_for = self._skills
            self._link.controls.list_prompts(self._link.answer(self._prompts_read))

    def _prompts_read(self, prompts: PromptsStatus) -> None:
        self._prompts = prompts
        self._fill()

    def _fill(self) -> None:
        text = self.search.text().strip().casefold()
        failures: dict[str, list[str]] = {}
        for skill, failure in self._prompts.failures:
            failures.setdefault(skill, []).append(failure)
        prompts: dict[str, list[PromptStatus]] = {}
        for prompt in self._prompts.prompts:
            prompts.setdefault(prompt.skill, []).append(prompt)
        rows = []
        for one in self._skills:
            wrong = [*one.failures, *failures.get(one.name, ())]
            row = self._skill(one, list(dict.fromkeys(wrong)), prompts.pop(one.name, []))
            rows.append(row)
        rows += [self._registered(name, prompt) for name, prompt in prompts.items()]
        shown = [row for row in rows if not text or text in _all_text(row)]
        # Broken skills come first, because artists open this tab to look for them.
        shown.sort(key=lambda row: row.kind != "bad")
        broken = {row.key for row in self.model.rows if row.kind == "bad"}
        self.model.set_rows(shown)
        for number, row in enumerate(shown):
            if (row.kind == "bad" and row.key not in broken) or (text and row.rows):
                self.view.expand(self.model.index(number, 0))
            for child in range(len(row.rows)):
                self.view.setFirstColumnSpanned(child, self.model.index(number, 0), True)
        empty = self.tr("No skill matches.") if text else self.tr("No skills were found.")
        self._note.setText(empty)
        self._note.setVisible(not shown)
        self._selected()

    def _skill(self, one: SkillStatus, wrong: list[str], prompts: list[PromptStatus]) -> Row:
        parts = [self._scopes.get(one.scope, one.scope)]
        if wrong:
            glyph, kind = "warning", "bad"
            parts.append(self.tr("problems: {0}").format(len(wrong)))
        elif one.loaded:
            glyph, kind = "check", "good"
        else:
            glyph, kind = "ring", "dim"
            parts.append(self.tr("when called") if one.when_called else self.tr("not loaded"))
        rows = [
            Row(f"failure {text}", (one_line(text), ""), "warning", "bad", visible(text))
            for text in wrong
        ]
        rows += [self._prompt(prompt) for prompt in prompts]
        about = f"{visible(one.description)}\n" + self.tr("Tools: {0} · Prompts: {1}").format(
            one.tools, len(prompts)
        )
        tip = f"{one_line(one.name)}\n{about}\n{visible(one.path)}"
        cells = (one_line(one.name), " · ".join(parts))
        return Row(one.name, cells, glyph, kind, tip, rows=tuple(rows), data=(one.path, about))

    def _registered(self, name: str, prompts: list[PromptStatus]) -> Row:
        title = self.tr("Registered by the host") if name == "manual" else one_line(name)
        rows = tuple(map(self._prompt, prompts))
        return Row(f"prompts of {name}", (title, ""), "check", "good", rows=rows)

    def _prompt(self, prompt: PromptStatus) -> Row:
        arguments = ", ".join(map(one_line, prompt.arguments))
        tip = f"{one_line(prompt.name)}({arguments})\n{visible(prompt.description)}"
        cells = (f"{one_line(prompt.name)}  —  {one_line(prompt.description)}", "")
        return Row(f"prompt {prompt.name}", cells, "book", "text", tip, data=(None, tip))

    def _current(self) -> tuple[Row | None, Row | None]:
        """Return the selected row and the row of the skill that it belongs to."""
        index = self.view.currentIndex()
        row, above = self.model.row(index), self.model.row(index.parent())
        return row, above or row

    def _selected(self) -> None:
        row, skill = self._current()
        path = skill.data[0] if skill is not None and skill.data is not None else None
        self.folder.setEnabled(path is not None)
        text = ""
        if row is not None:
            text = row.tip if row.data is None else row.data[1]
            if row is skill and path is not None:
                text += f"\n{visible(path)}"
        self.about.setText(text)
        self.about.setVisible(bool(text))

    def _reload(self) -> None:
        self._read_for = None
        self._link.controls.reload_skills()
        self._read_prompts()

    def _open_folder(self) -> None:
        _, skill = self._current()
        if skill is None or skill.data is None:
            return
        path = skill.data[0]
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(path)):
            QGuiApplication.clipboard().setText(path)
            self.about.setText(self.tr("No file manager opened; the path was copied."))


def _all_text(row: Row) -> str:
    return " ".join([*row.cells, *(cell for child in row.rows for cell in child.cells)]).casefold()
