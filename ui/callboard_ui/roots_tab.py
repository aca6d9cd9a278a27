"""The tab with the folders in which files may be read and written: the artist's roots, the
project's, and each client's. A field below them shows where a path leads, and whether it is
allowed."""

from __future__ import annotations

from collections.abc import Sequence

from qtpy.QtCore import QEvent, Qt
from qtpy.QtGui import QDragEnterEvent, QDropEvent, QKeySequence, QShortcut, QShowEvent
from qtpy.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from callboard.panel.status import PathAnswer, RootStatus, Snapshot
from callboard_ui.artist_roots import ArtistRoots
from callboard_ui.folder_states import FolderStates
from callboard_ui.icons import icon
from callboard_ui.labels import Elided, plain, tint
from callboard_ui.link import Link
from callboard_ui.row_delegate import RowDelegate
from callboard_ui.rows import Row, RowsModel
from callboard_ui.shown_text import one_line, visible
from callboard_ui.theme import bold, em

OWN = "own"


class RootsTab(QWidget):
    """The Roots tab. Use it on Qt's thread."""

    def __init__(self, link: Link, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._snapshot = Snapshot()
        self._states = FolderStates(link.folders, self._fill)
        self.own = ArtistRoots(link, self._report)
        self._follow: int | None = None
        self.setAcceptDrops(True)
        self._workspace_label = QLabel("workspace://", self)
        self._workspace_label.setFont(bold(self.font()))
        self.workspace = Elided(self, Qt.TextElideMode.ElideMiddle)
        self.add = self._button(self.tr("Add folder…"), "plus", self._add)
        self.add.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.remove = self._button(self.tr("Remove this root"), "minus", self._remove)
        self.up = self._button(self.tr("Move up; the first is the workspace"), "up", self._up)
        self.down = self._button(self.tr("Move down"), "down", self._down)
        self.lock = self._button(self.tr("Read-only: nothing may be written"), "lock", self._lock)
        self.lock.setCheckable(True)
        self.model = RowsModel((self.tr("Root"), self.tr("State")), self)
        self.view = QTreeView(self)
        self._set_up_view()
        self.policy = QComboBox(self)
        self.policy.addItem(self.tr("Advisory: others are allowed too"), "advisory")
        self.policy.addItem(self.tr("Strict: nothing outside"), "strict")
        self.policy.setAccessibleName(self.tr("Policy"))
        self.policy.setToolTip(self.tr("Allow or refuse absolute paths that lead out of the roots"))
        self.policy.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.policy.setMinimumContentsLength(8)
        self.policy.activated.connect(self._policy_chosen)
        self.path = QLineEdit(self)
        self.path.setPlaceholderText("workspace://textures/wood.png")
        self.path.setAccessibleName(self.tr("Try a path"))
        self.path.setClearButtonEnabled(True)
        self.path.textChanged.connect(lambda text: self._try())
        self.writing = QCheckBox(self.tr("to write"), self)
        self.writing.setToolTip(self.tr("Check the path for writing, or else for reading"))
        self.writing.toggled.connect(lambda on: self._try())
        self.answer = plain(self, wrap=True)
        self.answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._note = plain(self, wrap=True)
        self._note.hide()
        self._lay_out()
        self.view.selectionModel().currentRowChanged.connect(lambda new, old: self._enable())
        for keys, act in (("Alt+Up", self._up), ("Alt+Down", self._down), ("Del", self._remove)):
            shortcut = QShortcut(QKeySequence(keys), self.view)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(act)
        self._draw()
        self._enable()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show a new state. Saved roots are restored even while the tab is hidden."""
        self._snapshot = snapshot
        self.own.show_snapshot(snapshot)
        if self.isVisible():
            self._fill()

    # -- Qt's methods ---------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fill()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._draw()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        folders = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        self.own.add(folders)
        event.acceptProposedAction()

    # -- construction ---------------------------------------------------------------------------

    def _button(self, tip: str, name: str, act: object) -> QToolButton:
        button = QToolButton(self)
        button.setText(tip)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setObjectName(name)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.clicked.connect(act)
        return button

    def _set_up_view(self) -> None:
        view = self.view
        view.setModel(self.model)
        view.setAccessibleName(self.tr("Roots"))
        view.setHeaderHidden(True)
        view.setRootIsDecorated(False)
        view.setItemsExpandable(False)
        view.setUniformRowHeights(True)
        view.setItemDelegate(RowDelegate(view))
        view.setAllColumnsShowFocus(True)
        view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        view.setIndentation(em(self, 0.6))
        header = view.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)

    def _lay_out(self) -> None:
        space = em(self, 0.3)
        top = QHBoxLayout()
        top.setSpacing(space)
        top.addWidget(self._workspace_label)
        top.addWidget(self.workspace, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(space)
        buttons.addWidget(self.add)
        buttons.addStretch(1)
        for button in (self.up, self.down, self.lock, self.remove):
            buttons.addWidget(button)
        below = QGridLayout()
        below.setSpacing(space)
        policy_label = QLabel(self.tr("Policy"), self)
        policy_label.setBuddy(self.policy)
        try_label = QLabel(self.tr("Try a path"), self)
        try_label.setBuddy(self.path)
        below.addWidget(policy_label, 0, 0)
        below.addWidget(self.policy, 0, 1, 1, 2)
        below.addWidget(try_label, 1, 0)
        below.addWidget(self.path, 1, 1)
        below.addWidget(self.writing, 1, 2)
        below.addWidget(self.answer, 2, 0, 1, 3)
        below.setColumnStretch(1, 1)
        box = QVBoxLayout(self)
        box.setContentsMargins(space, space, space, space)
        box.setSpacing(space)
        box.addLayout(top)
        box.addWidget(self.view, 1)
        box.addLayout(buttons)
        box.addWidget(self._note)
        box.addLayout(below)
        # Tab order: the list, its buttons, the policy, the path and the answer.
        self.setTabOrder(self.view, self.add)

    def _draw(self) -> None:
        palette = self.palette()
        self.add.setText(self.tr("Add folder…"))
        for button in (self.add, self.remove, self.up, self.down, self.lock):
            button.setIcon(icon(button.objectName(), palette))
        self.model.set_look(palette, self.font())
        tint(self._note, "bad")

    # -- new states -----------------------------------------------------------------------------

    def _fill(self) -> None:
        shown = self._snapshot
        everywhere = [*shown.roots, *(root for client in shown.clients for root in client.roots)]
        self._states.ask(root.path for root in everywhere if root.path is not None)
        own = [root for root in shown.roots if root.source == "artist"]
        project = [root for root in shown.roots if root.source == "project"]
        groups = [self._group(OWN, self.tr("Yours, in this project"), own, self._no_own())]
        if project:
            title = self.tr("The project in {0}").format(shown.host_name)
            groups.append(self._group("project", title, project))
        for client in shown.clients:
            name = f"{one_line(client.name)} {one_line(client.version)} · {client.era}"
            why = client.roots_problem or self.tr("names no roots")
            groups.append(self._group(client.id, name, client.roots, why))
        self.model.set_rows(groups)
        self.view.expandAll()
        for number, group in enumerate(groups):
            self.view.setFirstColumnSpanned(number, self.view.rootIndex(), True)
            for child, row in enumerate(group.rows):
                spans = not any(row.cells[1:])
                self.view.setFirstColumnSpanned(child, self.model.index(number, 0), spans)
        index = self.policy.findData(shown.roots_policy)
        if index != self.policy.currentIndex():
            self.policy.setCurrentIndex(index)
        self._show_workspace(own or project)
        self._follow_moved()
        self._enable()
        self._try()

    def _follow_moved(self) -> None:
        """Select a moved root again once the list shows it at its new position."""
        wanted, self._follow = self._follow, None
        if wanted is not None and wanted < len(self.own.roots):
            key = f"{wanted} {self.own.roots[wanted].uri}"
            index = self.model.find(key, OWN)
            if index.isValid():
                self.view.setCurrentIndex(index)
            else:
                self._follow = wanted

    def _no_own(self) -> str:
        return self.tr("none: add a folder, or drop one here")

    def _group(self, key: str, title: str, roots: Sequence[RootStatus], empty: str = "") -> Row:
        rows = [self._row(key, number, root) for number, root in enumerate(roots)]
        if not rows and empty:
            rows = [Row("empty", (one_line(empty),), kind="dim", tip=empty, enabled=False)]
        return Row(key, (title,), heading=True, tip=title, rows=tuple(rows))

    def _row(self, group: str, number: int, root: RootStatus) -> Row:
        words = {
            "missing": self.tr("not found"),
            "gone": self.tr("gone"),
            "no folder": self.tr("not a folder"),
            "unreadable": self.tr("can't be read"),
        }
        glyph, kind, says = "folder", "text", ""
        if root.path is None:
            glyph, kind, says = "slash", "warn", self.tr("not on this machine")
        else:
            state = self._states.of(root.path)
            if state in words:
                glyph, kind, says = "warning", "bad", words[state]
            elif root.read_only:
                glyph, says = "lock", self.tr("read-only")
        where = root.path or root.uri
        name = one_line(root.name)
        text = f"{name}  —  {one_line(where)}" if name and name != where else one_line(where)
        tip = "\n".join(part for part in (name, visible(where), says) if part)
        return Row(f"{number} {root.uri}", (text, says), glyph, kind, tip, data=(group, number))

    def _show_workspace(self, roots: Sequence[RootStatus]) -> None:
        by_client = [client for client in self._snapshot.clients if _first(client.roots)]
        first = _first(roots)
        meant = {_first(client.roots) or first for client in self._snapshot.clients}
        if len(meant) > 1:
            lines = [
                f"{one_line(client.name)}: {_first(client.roots) or first or self.tr('nothing')}"
                for client in self._snapshot.clients
            ]
            self.workspace.show_text(self.tr("different for each client"), "\n".join(lines))
        elif by_client:
            one = by_client[0]
            path = _first(one.roots)
            more = self.tr("; other clients: {0}").format(first) if first else ""
            tip = self.tr("{0}, for {1}{2}").format(path, one.name, more)
            self.workspace.show_text(path or "", tip)
        else:
            self.workspace.show_text(first or self.tr("nothing yet: there is no root"))
        tint(self.workspace, "text" if first or by_client else "warn")

    # -- the artist's actions -------------------------------------------------------------------

    def _chosen(self) -> int | None:
        """Return the selected root's index among the artist's roots, or None."""
        row = self.model.row(self.view.currentIndex())
        if row is None or row.data is None or row.data[0] != OWN:
            return None
        number = int(row.data[1])
        return number if number < len(self.own.roots) else None

    def _enable(self) -> None:
        chosen = self._chosen()
        own = chosen is not None
        self.remove.setEnabled(own)
        self.lock.setEnabled(own)
        self.lock.setChecked(chosen is not None and self.own.roots[chosen].read_only)
        self.up.setEnabled(chosen is not None and chosen > 0)
        self.down.setEnabled(chosen is not None and chosen < len(self.own.roots) - 1)

    def _add(self) -> None:
        # The dialog isn't modal, so that the host keeps running.
        dialog = QFileDialog(self, self.tr("Add a workspace root"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(lambda folders: self.own.add(list(folders)))
        dialog.open()

    def _remove(self) -> None:
        chosen = self._chosen()
        if chosen is not None:
            self.own.remove(chosen)

    def _up(self) -> None:
        self._move(-1)

    def _down(self) -> None:
        self._move(1)

    def _move(self, by: int) -> None:
        chosen = self._chosen()
        if chosen is None:
            return
        self.own.move(chosen, by)
        self._follow = chosen + by

    def _lock(self) -> None:
        chosen = self._chosen()
        if chosen is not None:
            self.own.set_read_only(chosen, self.lock.isChecked())

    def _policy_chosen(self, index: int) -> None:
        self.own.set_policy(self.policy.itemData(index))

    def _try(self) -> None:
        text = self.path.text().strip()
        if not text:
            self.answer.setText("")
            self.answer.hide()
            return

        def answered(answer: PathAnswer) -> None:
            if self.path.text().strip() != text:
                return
            if answer.resolved is None:
                self.answer.setText(self.tr("Refused: {0}").format(visible(answer.reason)))
            else:
                self.answer.setText(f"{visible(answer.resolved)}\n{answer.reason}")
            tint(self.answer, "bad" if answer.resolved is None else "good")
            self.answer.show()

        clients = [client.id for client in self._snapshot.clients if _first(client.roots)]
        self._link.controls.try_path(
            text,
            self._link.answer(answered),
            client=clients[0] if clients else None,
            write=self.writing.isChecked(),
        )

    def _report(self, problem: str) -> None:
        self._note.setText(visible(problem))
        self._note.setVisible(bool(problem))


def _first(roots: Sequence[RootStatus]) -> str | None:
    return next((root.path for root in roots if root.path is not None), None)
