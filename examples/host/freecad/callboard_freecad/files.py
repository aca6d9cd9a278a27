"""The ports ``filesystem.read`` and ``filesystem.write``."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from xml.etree import ElementTree

import FreeCAD

from callboard.errors import HostError
from callboard.host import Json, pointed_at
from callboard_freecad.documents import current, objects
from callboard_qt import openable, saveable, translated

_BEGINS = {".FCStd": (b"PK\x03\x04",)}


class Files:
    """Implements both ports. ``replaced`` is called when another document becomes the scene."""

    suffixes = tuple(_BEGINS)

    def __init__(self, replaced: Callable[[], None]) -> None:
        self._replaced = replaced

    def open(self, path: str) -> Json:
        """Open the file as a new document. Other documents stay open."""
        file = openable(path, _BEGINS, "a document of FreeCAD")
        try:
            with zipfile.ZipFile(file) as archive:
                ElementTree.fromstring(archive.read("Document.xml"))
        except (zipfile.BadZipFile, KeyError, ElementTree.ParseError) as error:
            raise HostError(f"'{file.name}' is not a FreeCAD document: {error}") from None
        documents = FreeCAD.listDocuments().values()
        opened = next((one for one in documents if one.FileName == str(file)), None)
        with translated("FreeCAD", f"open '{file.name}'", Exception):
            if opened is None:
                opened = FreeCAD.openDocument(str(file))
            else:
                opened.restore()
        FreeCAD.setActiveDocument(opened.Name)
        self._replaced()
        return {"path": path, "object_count": sum(1 for _ in objects())}

    def save(self, path: str | None) -> Json:
        document = current()
        if document is None:
            raise HostError("no document is open, so there is nothing to save")
        file = saveable(path or document.FileName, self.suffixes)
        with translated("FreeCAD", f"save '{file.name}'", Exception):
            if path is None or path == document.FileName:
                document.save()
            else:
                document.saveAs(str(pointed_at(file)))
        _mark_unmodified()
        return {"path": document.FileName, "bytes": file.stat().st_size}


def _mark_unmodified() -> None:
    """Save once more with FreeCAD's own menu command, because only that marks the document as
    unmodified. It shows a dialog if it fails, so it is used only after a save that has succeeded.
    """
    import FreeCADGui

    FreeCADGui.SendMsgToActiveView("Save")
