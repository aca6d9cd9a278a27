"""The dialog that saves selected calls as a skill with a workflow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qtpy.QtCore import Qt
from qtpy.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from callboard.panel.saved_runs import SavedRun, SavedRuns
from callboard_ui.icons import icon
from callboard_ui.labels import plain, tint
from callboard_ui.qt_threads import Background
from callboard_ui.shown_text import visible
from callboard_ui.theme import em


class SaveRunDialog(QDialog):
    """The dialog for saving a run. Use it on Qt's thread. Another thread reads the records and
    writes the files."""

    def __init__(
        self, runs: SavedRuns, ids: Sequence[str], background: Background, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Save as Workflow"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._runs = runs
        self._ids = ids
        self._background = background
        self._open = True
        self.finished.connect(self._closed)
        self.name = QLineEdit(self)
        self.name.setPlaceholderText(self.tr("lower case, with hyphens: table-lamp"))
        self.name.textChanged.connect(lambda text: self._enable())
        self.folder = QLineEdit(self)
        self.folder.textChanged.connect(lambda text: self._enable())
        self.browse = QToolButton(self)
        self.browse.setToolTip(self.tr("Choose the folder"))
        self.browse.setAccessibleName(self.tr("Choose the folder"))
        self.browse.setIcon(icon("folder", self.palette()))
        self.browse.clicked.connect(self._browse)
        self.save = QPushButton(self.tr("Save"), self)
        self.save.clicked.connect(self._save)
        self._about = plain(self, wrap=True)
        self._about.setText(
            self.tr(
                "A skill with a workflow that repeats the selected calls. Names and numbers "
                "that recur become its inputs; secrets and full paths stay out of it."
            )
        )
        self._answer = plain(self, wrap=True)
        self._lay_out()
        self.resize(em(self, 30), self.sizeHint().height())
        self._enable()
        background.run(lambda: runs.folder, self._suggest)

    def _lay_out(self) -> None:
        chosen = QHBoxLayout()
        chosen.addWidget(self.folder, 1)
        chosen.addWidget(self.browse)
        form = QFormLayout()
        form.addRow(self.tr("Name"), self.name)
        form.addRow(self.tr("Folder"), chosen)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.addButton(self.save, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        box = QVBoxLayout(self)
        box.addWidget(self._about)
        box.addLayout(form)
        box.addWidget(self._answer)
        box.addWidget(buttons)
        self._answer.hide()

    def _closed(self, result: int) -> None:
        self._open = False

    def _suggest(self, folder: Path | None, error: Exception | None) -> None:
        if self._open and folder is not None and not self.folder.text():
            self.folder.setText(str(folder))

    def _enable(self) -> None:
        folder = self.folder.text().strip()
        self.save.setEnabled(bool(self.name.text().strip()) and Path(folder).is_absolute())

    def _browse(self) -> None:
        # The dialog isn't modal, so that the host keeps running.
        dialog = QFileDialog(self, self.tr("Choose the folder"), self.folder.text())
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.folder.setText)
        dialog.open()

    def _save(self) -> None:
        name, parent = self.name.text().strip(), Path(self.folder.text().strip())
        self.save.setEnabled(False)
        self._background.run(lambda: self._runs.save(self._ids, name, parent), self._saved)

    def _saved(self, run: SavedRun | None, error: Exception | None) -> None:
        if not self._open:
            return
        self._enable()
        if run is None:
            self._say(self.tr("Not saved: {0}").format(error), bad=True)
            return
        sentences = [self.tr("Saved in {0}, steps: {1}.").format(run.folder, run.steps)]
        if run.wanted:
            sentences.append(self.tr("Inputs without a value: {0}.").format(", ".join(run.wanted)))
        sentences += [self.tr("Left out: {0}.").format(each) for each in run.left_out]
        self._say("\n".join(sentences))

    def _say(self, text: str, *, bad: bool = False) -> None:
        self._answer.setText(visible(text))
        tint(self._answer, "bad" if bad else "good")
        self._answer.setVisible(bool(text))
