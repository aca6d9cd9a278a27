"""The host, which defines what callboard may do in FreeCAD, and when."""

from __future__ import annotations

from typing import Any

import FreeCAD

from callboard.host import (
    FILESYSTEM_READ,
    FILESYSTEM_WRITE,
    SCENE_MUTATE,
    SCENE_READ,
    VIEWPORT,
    HostIdentity,
    Work,
)
from callboard_freecad.documents import current, required, working
from callboard_freecad.files import Files
from callboard_freecad.scene import Scene
from callboard_freecad.undo import Transactions
from callboard_freecad.view import View
from callboard_qt import Dialog, Messages, Post, QtHost, no_dialog

_OURS = "CallboardSelfTest"


class FreeCADHost(QtHost):
    where = "FreeCAD's panel Callboard"
    has_windows = True
    guide = (
        "The scene is the document that the artist works in; scene__open_file opens another one "
        "beside it. Lengths are millimeters and Z is up. Objects have no scale and no parents. An "
        "object's name is its label."
    )

    def __init__(self, post: Post, dialog: Dialog = no_dialog) -> None:
        version = ".".join(FreeCAD.Version()[:3])
        super().__init__(HostIdentity("freecad", "FreeCAD", version, headless=False), post, dialog)
        self.undo = self._steps = Transactions()
        self.acts = {"undo": lambda: required().undo(), "new_scene": _new_document}
        scene, files = Scene(), Files(self._steps.scene_replaced)
        self._open(
            {
                SCENE_READ: scene,
                SCENE_MUTATE: scene,
                FILESYSTEM_READ: files,
                FILESYSTEM_WRITE: files,
                VIEWPORT: View(),
            }
        )

    def _listen(self) -> Messages:
        return DocumentMessages(self)

    def may_run(self, work: Work) -> str | None:
        import FreeCADGui

        # FreeCAD handles Qt's events, and therefore our calls, even during its own work.
        held = super().may_run(work) or working()
        if held is None and work != "read" and FreeCADGui.Control.activeDialog():
            return "FreeCAD's task panel, which is open"
        return held

    def scene_file(self) -> str | None:
        document = current()
        return (document.FileName or None) if document is not None else None

    def empty_scene(self) -> None:
        for one in [*required().Objects]:
            one.Document.removeObject(one.Name)


def _new_document() -> None:
    """Close any document that an earlier call opened, and open an empty one. The artist's own
    documents stay open."""
    for name in [*FreeCAD.listDocuments()]:
        if name.startswith(_OURS):
            FreeCAD.closeDocument(name)
    FreeCAD.newDocument(_OURS)


class DocumentMessages(Messages):
    """FreeCAD calls this class's methods whose names begin with ``slot``."""

    def __init__(self, host: FreeCADHost) -> None:
        super().__init__("FreeCAD")
        self._host = host
        self.slotActivateDocument = self._told("project")
        self.slotDeletedDocument = self._told("project")
        self.slotFinishSaveDocument = self.guarded("saved", self._saved)
        for event in ("Created", "Deleted", "Changed"):
            setattr(self, f"slot{event}Object", self._told("scene"))
        for event in ("Undo", "Redo"):
            setattr(self, f"slot{event}Document", self._told("scene"))
        FreeCAD.addDocumentObserver(self)

    def _told(self, event: Any) -> Any:
        return self.guarded(event, lambda *_: self._host.announce(event))

    def _saved(self, *_: object) -> None:
        self._host.announce("saved")
        self._host.announce("project")

    def close(self) -> None:
        FreeCAD.removeDocumentObserver(self)
        super().close()
