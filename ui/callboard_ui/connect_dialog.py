"""Connecting a client: its configuration to copy, or to write after seeing what would change."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from qtpy.QtGui import QGuiApplication, QTextOption
from qtpy.QtWidgets import (
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

from callboard.errors import CallboardError
from callboard.panel.client_files import (
    Change,
    ClientFormat,
    Instance,
    bridge,
    formats,
    planned,
)
from callboard_ui.icons import icon
from callboard_ui.labels import plain
from callboard_ui.look import em, fixed, tint
from callboard_ui.shown_text import visible


class ConnectDialog(QDialog):
    """Qt's thread. ``folder`` is where clients that keep their settings in a project look."""

    def __init__(
        self, instance: Instance, folder: str | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Connect a client"))
        self._instance = instance
        self._formats = {
            name: _in_folder(client, Path(folder) if folder else Path.home())
            for name, client in formats().items()
        }
        self._change: Change | None = None
        self._lacks_bridge = False
        self.client = QComboBox(self)
        for name, client in self._formats.items():
            self.client.addItem(client.title, name)
        self.client.currentIndexChanged.connect(lambda index: self._client_chosen())
        self.file = QLineEdit(self)
        self.file.setAccessibleName(self.tr("The client's file"))
        self.file.textChanged.connect(lambda text: self._preview())
        self.browse = QToolButton(self)
        self.browse.setToolTip(self.tr("Choose the file"))
        self.browse.setAccessibleName(self.tr("Choose the file"))
        self.browse.setIcon(icon("folder", self.palette()))
        self.browse.clicked.connect(self._browse)
        self._about = plain(self, wrap=True)
        self.configuration = self._text(self.tr("Configuration"))
        self.difference = self._text(self.tr("What would change in the file"))
        self._difference_label = QLabel(self.tr("What would change in the file"), self)
        self._outcome = plain(self, wrap=True)
        self.copy = QPushButton(self.tr("Copy"), self)
        self.copy.clicked.connect(self._copy)
        self.write = QPushButton(self.tr("Write File"), self)
        self.write.clicked.connect(self._write)
        self._lay_out()
        self.resize(em(self, 34), em(self, 32))
        self._client_chosen()

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
        box.addWidget(self._outcome)
        box.addWidget(buttons)
        self._outcome.hide()

    @property
    def _format(self) -> ClientFormat:
        return self._formats[self.client.currentData()]

    def _client_chosen(self) -> None:
        client = self._format
        entry = {client.key: {"callboard": client.entry(self._instance)}}
        self.configuration.setPlainText(json.dumps(entry, indent=2))
        self._lacks_bridge = client.stdio and bridge() is None
        if self._lacks_bridge:
            about = self.tr(
                "This client starts the program “callboard”, which isn't installed for this user. "
                "Install it with “pipx install” and the folder of callboard's source, then open "
                "this window again."
            )
        elif client.stdio:
            about = self.tr("This client starts a small bridge that finds this instance by itself.")
        elif self._instance.token:
            about = self.tr("It holds a secret token: paste it into your client only.")
        else:
            about = self.tr("Every program on this machine may call: there is no token.")
        self._about.setText(about)
        tint(self._about, "bad" if self._lacks_bridge else "text")
        known = client.path is not None
        for widget in (self._file_label, self.file, self.browse, self._difference_label):
            widget.setVisible(known)
        self.difference.setVisible(known)
        self.write.setVisible(known)
        self._say("")
        self.file.setText(str(client.path) if client.path is not None else "")
        self._preview()

    def _preview(self) -> None:
        client, text = self._format, self.file.text().strip()
        self._change = None
        self.write.setEnabled(False)
        if client.path is None:
            return
        path = Path(text)
        if not text or not path.is_absolute():
            self.difference.setPlainText(self.tr("Give the full path of the client's file."))
            return
        try:
            change = planned(path, client.key, client.entry(self._instance))
        except (CallboardError, OSError, ValueError) as error:
            self.difference.setPlainText(visible(str(error)))
            return
        lines = "".join(change.difference)
        self.difference.setPlainText(visible(lines) or self.tr("Nothing: it is there already."))
        self._change = change if lines else None
        self.write.setEnabled(bool(lines) and not self._lacks_bridge)

    def _browse(self) -> None:
        dialog = QFileDialog(self, self.tr("The client's file"), self.file.text())
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite, True)
        dialog.fileSelected.connect(self.file.setText)
        dialog.open()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.configuration.toPlainText())
        self._say(self.tr("Copied."))

    def _write(self) -> None:
        change = self._change
        if change is None:
            return
        fresh = planned(change.path, self._format.key, self._format.entry(self._instance))
        if fresh != change:
            self._preview()
            self._say(self.tr("The file changed meanwhile: look again."), bad=True)
            return
        try:
            change.write()
        except OSError as error:
            self._say(self.tr("Not written: {0}").format(error), bad=True)
            return
        self._preview()
        self._say(self.tr("Written. Restart the client, or have it reload its servers."))

    def _say(self, text: str, *, bad: bool = False) -> None:
        self._outcome.setText(visible(text))
        tint(self._outcome, "bad" if bad else "good")
        self._outcome.setVisible(bool(text))


def _in_folder(client: ClientFormat, folder: Path) -> ClientFormat:
    """Where a client keeps its settings in a project, the host's working folder isn't it."""
    path = client.path
    if path is None or not path.is_relative_to(Path.cwd()) or path.is_relative_to(Path.home()):
        return client
    return replace(client, path=folder / path.relative_to(Path.cwd()))
