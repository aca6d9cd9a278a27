"""Makes each call one undo step, with FreeCAD's transactions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import FreeCAD

from callboard_freecad.documents import current
from callboard_qt import OpenStep, UndoSteps, applied_of


class Transactions(UndoSteps):
    """The undo port. A step is identified by its document and its name in that document's list."""

    def _open(self, label: str) -> OpenStep:
        document = current()
        if document is None or not document.UndoMode:
            return OpenStep(None, recorded=False)
        name = self._unlike_known(label)
        step = OpenStep((document.Name, name), selection=_selected(document))
        document.openTransaction(name)
        step.recording.callback(self._commit, document.Name)
        return step

    def _unlike_known(self, label: str) -> str:
        document = current()
        names = {*document.UndoNames, *document.RedoNames}
        while label in names:
            label += " "
        return label

    def _commit(self, name: str) -> None:
        if name in FreeCAD.listDocuments():  # A call may have closed it.
            FreeCAD.getDocument(name).commitTransaction()

    def _newest(self) -> Hashable:
        return _first("UndoNames")

    def _applied(self, marks: Sequence[Hashable]) -> int | None:
        return applied_of(marks, (self._newest(),), (_first("RedoNames"),))

    def _is_next_redo(self, mark: Hashable) -> bool:
        return _first("RedoNames") == mark

    def _restore(self, step: OpenStep) -> None:
        """Select what was selected before the step. FreeCAD doesn't count selecting as a change."""
        import FreeCADGui

        document = current()
        FreeCADGui.Selection.clearSelection()
        for name in step.selection if document is not None else ():
            FreeCADGui.Selection.addSelection(document.getObject(name))

    def _undo_newest(self) -> bool:
        return _done("undo")

    def _redo_next(self) -> bool:
        return _done("redo")


def _selected(document: Any) -> tuple[str, ...]:
    import FreeCADGui

    return tuple(each.Name for each in FreeCADGui.Selection.getSelection(document.Name))


def _first(names: str) -> Hashable:
    document = current()
    listed: Any = getattr(document, names) if document is not None else ()
    return (document.Name, listed[0]) if document is not None and listed else None


def _done(what: str) -> bool:
    document = current()
    if document is None:
        return False
    getattr(document, what)()
    document.recompute()
    return True
