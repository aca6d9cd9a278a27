"""The dialog that connects a client. The artist copies the client's configuration, or previews the
change to the client's file and writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from qtpy.QtCore import QTimer
from qtpy.QtGui import QCloseEvent, QGuiApplication, QTextOption
from qtpy.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from callboard.errors import PeerError
from callboard.panel.client_files import (
    Change,
    ClientFormat,
    Instance,
    bridge,
    formats_allowed,
    own_token,
    planned,
)
from callboard_ui.icons import icon
from callboard_ui.labels import plain, tint
from callboard_ui.qt_threads import Background
from callboard_ui.shown_text import visible
from callboard_ui.theme import em, fixed

T = TypeVar("T")

#: Milliseconds after the last key press before the file is read.
TYPING_MS = 250


class ConnectDialog(QDialog):
    """The dialog to connect a client. ``folder`` is the project's folder, in which some clients
    keep settings. Use it on Qt's thread. Another thread reads and writes files."""

    def __init__(
        self, instance: Instance, folder: str | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Connect a client"))
        self._instance = instance
        self._bridge = bridge()
        self._background = Background(may_hang=True)
        self.destroyed.connect(self._background.close)
        home = Path(folder) if folder else Path.home()
        self._formats = {name: _in_folder(one, home) for name, one in formats_allowed().items()}
        self._change: Change | None = None
        self._asked = 0
        self.client = QComboBox(self)
        for name, one in self._formats.items():
            self.client.addItem(one.title, name)
        self.client.currentIndexChanged.connect(lambda index: self._client_chosen())
        self.name = QLineEdit(self)
        self.name.setToolTip(self.tr("Its name in the panel, and the name to revoke"))
        self.name.textChanged.connect(lambda text: self._changed())
        self.direct = QCheckBox(self.tr("Address and token, without the bridge"), self)
        self.direct.toggled.connect(lambda on: self._changed())
        self.file = QLineEdit(self)
        self.file.setAccessibleName(self.tr("The client's file"))
        self.file.textChanged.connect(lambda text: self._preview_later())
        self.browse = QToolButton(self)
        self.browse.setToolTip(self.tr("Choose the file"))
        self.browse.setAccessibleName(self.tr("Choose the file"))
        self.browse.setIcon(icon("folder", self.palette()))
        self.browse.clicked.connect(self._browse)
        self._about = plain(self, wrap=True)
        self.configuration = self._text(self.tr("Configuration"))
        self.difference = self._text(self.tr("What would change in the file"))
        self._difference_label = QLabel(self.tr("What would change in the file"), self)
        self._answer = plain(self, wrap=True)
        self.copy = QPushButton(self.tr("Copy"), self)
        self.copy.clicked.connect(self._copy)
        self.write = QPushButton(self.tr("Write File"), self)
        self.write.clicked.connect(self._write)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_MS)
        self._typing.timeout.connect(self._preview)
        self._lay_out()
        self.resize(em(self, 34), em(self, 34))
        self._client_chosen()

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self._background.close()

    def _text(self, name: str) -> QPlainTextEdit:
        text = QPlainTextEdit(self)
        text.setReadOnly(True)
        text.setTabChangesFocus(True)
        text.setFont(fixed(self.font()))
        text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        text.setAccessibleName(name)
        return text

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.addRow(self.tr("Client"), self.client)
        form.addRow(self.tr("Name"), self.name)
        form.addRow("", self.direct)
        chosen = QHBoxLayout()
        chosen.addWidget(self.file, 1)
        chosen.addWidget(self.browse)
        self._file_label = QLabel(self.tr("File"), self)
        self._file_label.setBuddy(self.file)
        form.addRow(self._file_label, chosen)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.addButton(self.copy, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.addButton(self.write, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.close)
        for button in (self.copy, self.write):
            button.setAutoDefault(False)
        box = QVBoxLayout(self)
        box.addLayout(form)
        box.addWidget(self._about)
        box.addWidget(self.configuration, 2)
        box.addWidget(self._difference_label)
        box.addWidget(self.difference, 3)
        box.addWidget(self._answer)
        box.addWidget(buttons)
        self._answer.hide()

    # -- the choice -----------------------------------------------------------------------------

    @property
    def _format(self) -> ClientFormat:
        return self._formats[self.client.currentData()]

    @property
    def _needs_bridge(self) -> bool:
        return self._bridge is None and not self.direct.isChecked()

    @property
    def _may_write(self) -> bool:
        """True if the client's file is known and the token wouldn't end up in a file that others
        can read."""
        secret = self.direct.isChecked() and bool(self._instance.token)
        return self._format.path is not None and not (secret and self._format.shared)

    def _make_entry(self) -> Callable[[str], dict[str, Any]]:
        """Return a function that makes the client's entry from its token. The function can run on
        any thread."""
        client, instance, name = self._format, self._instance, self.name.text()
        if not self.direct.isChecked():
            return lambda token: client.bridge(name, command=self._bridge)
        return lambda token: client.entry(instance.url, token or None)

    @property
    def _shown_entry(self) -> dict[str, Any]:
        return self._make_entry()(self.tr("‹its own token›") if self._instance.token else "")

    def _client_chosen(self) -> None:
        chosen = self._format
        self.name.setText(self.client.currentData())
        self.direct.setVisible(not chosen.stdio)
        # Without a bridge to start, the address is the only choice.
        self.direct.setChecked(not chosen.stdio and self._bridge is None)
        self.file.setText(str(chosen.path) if chosen.path is not None else "")
        self._changed()

    def _changed(self) -> None:
        self.configuration.setPlainText(self._format.text(self._shown_entry))
        self._about.setText(self._explained())
        tint(self._about, "bad" if self._needs_bridge else "text")
        for widget in (self._file_label, self.file, self.browse, self._difference_label):
            widget.setVisible(self._may_write)
        self.difference.setVisible(self._may_write)
        self.write.setVisible(self._may_write)
        self._say("")
        self._preview_later()

    def _explained(self) -> str:
        if self._needs_bridge:
            return self.tr(
                "This client starts the program “callboard”, which isn't installed for this user. "
                "Install it with “pipx install” and the folder of callboard's source, then open "
                "this window again."
            )
        if not self.direct.isChecked():
            return self.tr(
                "It starts a small bridge that finds this instance and its token on its own."
            )
        if not self._instance.token:
            return self.tr("Every program on this machine may call: there is no token.")
        if self._format.shared:
            return self.tr(
                "It holds a secret token, and the client's file is shared with the project: copy "
                "it, and paste it where only you can read it."
            )
        return self.tr("It holds a secret token: it goes into your client only.")

    # -- the planned change ---------------------------------------------------------------------

    def _preview_later(self) -> None:
        self._change = None
        self.write.setEnabled(False)
        self._asked += 1
        self._typing.start()

    def _preview(self) -> None:
        path = Path(self.file.text().strip())
        if not self._may_write:
            return
        if not path.is_absolute():
            self.difference.setPlainText(self.tr("Give the full path of the client's file."))
            return
        asked, client, entry = self._asked, self._format, self._shown_entry

        def show(change: Change | None, error: Exception | None) -> None:
            if asked == self._asked:
                self._show_change(change, error)

        self._background.run(lambda: planned(client, path, entry), show)

    def _show_change(self, change: Change | None, error: Exception | None) -> None:
        if change is None:
            self.difference.setPlainText(visible(str(error)))
            return
        lines = "".join(change.difference)
        self.difference.setPlainText(visible(lines) or self.tr("No change: it is there already."))
        self._change = change if lines else None
        self.write.setEnabled(bool(lines) and not self._needs_bridge)

    def _browse(self) -> None:
        dialog = QFileDialog(self, self.tr("The client's file"), self.file.text())
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite, True)
        dialog.fileSelected.connect(self.file.setText)
        dialog.open()

    # -- giving access --------------------------------------------------------------------------

    def _copy(self) -> None:
        def copy(text: str | None) -> None:
            QGuiApplication.clipboard().setText(text or "")
            self._say(self.tr("Copied."))

        self._let_in(self._format.text, copy)

    def _write(self) -> None:
        change, client, preview = self._change, self._format, self._shown_entry
        if change is None:
            return

        def write(entry: dict[str, Any]) -> None:
            if planned(client, change.path, preview) != change:
                raise PeerError(self.tr("the file has changed; check the change again"))
            planned(client, change.path, entry).write()

        def written(nothing: object) -> None:
            self._change = None
            self.difference.setPlainText(self.tr("No change: it is there already."))
            self._say(self.tr("Written. Restart the client, or have it reload its servers."))

        self._let_in(write, written)

    def _let_in(
        self, work: Callable[[dict[str, Any]], T], done: Callable[[T | None], None]
    ) -> None:
        """Make the client's token if it has none, then run ``work`` with the client's entry."""
        name, make = self.name.text(), self._make_entry()
        needed = bool(self._instance.token)
        self.copy.setEnabled(False)
        self.write.setEnabled(False)

        def answered(value: T | None, error: Exception | None) -> None:
            self.copy.setEnabled(True)
            if error is None:
                done(value)
            else:
                self._preview_later()
                self._say(self.tr("Not done: {0}").format(error), bad=True)

        self._background.run(lambda: work(make(own_token(name) if needed else "")), answered)

    def _say(self, text: str, *, bad: bool = False) -> None:
        self._answer.setText(visible(text))
        tint(self._answer, "bad" if bad else "good")
        self._answer.setVisible(bool(text))


def _in_folder(one: ClientFormat, folder: Path) -> ClientFormat:
    """Return the format. If its path is below the current directory, but not in the user's home,
    replace it with the same relative path below ``folder``. Inside a host, the current directory
    isn't the project's folder."""
    path = one.path
    if path is None or not path.is_relative_to(Path.cwd()) or path.is_relative_to(Path.home()):
        return one
    return replace(one, path=folder / path.relative_to(Path.cwd()))
