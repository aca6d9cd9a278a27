"""Finds the FreeCAD document that is the scene, and the objects in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import FreeCAD

from callboard_qt import only_one


def current() -> Any | None:
    """Return the document that the artist is working in, or None when none is open."""
    return FreeCAD.ActiveDocument


def required() -> Any:
    """Return the current document. Make one when none is open, as FreeCAD's own tools do."""
    return current() or FreeCAD.newDocument()


def view_of(document: Any) -> Any:
    """Return the part of a document that belongs to FreeCAD's windows."""
    import FreeCADGui

    return FreeCADGui.getDocument(document.Name)


def objects() -> Iterator[Any]:
    """Yield the current document's objects that have a position in space, oldest first. In
    FreeCAD's own list, an object whose deletion was undone comes last."""
    document = current()
    for each in sorted(document.Objects, key=_age) if document is not None else ():
        if hasattr(each, "Placement") and each.isDerivedFrom("App::GeoFeature"):
            yield each


def _age(one: Any) -> int:
    return int(one.ID)


def path_of(one: Any) -> str:
    return f"/{one.Label}"


def find(name: str) -> Any:
    """Return the object with the given label or path. Raises ObjectNotFound or AmbiguousName."""
    wanted = name.removeprefix("/")
    fitting = [each for each in objects() if each.Label == wanted]
    return only_one(name, fitting, lambda: [each.Label for each in objects()], path_of)


def working() -> str | None:
    """Return what FreeCAD is doing while it runs Qt's loop, or None if it is idle."""
    if FreeCAD.isRestoring():
        return "opening a document"
    documents = FreeCAD.listDocuments().values()
    return "recomputing" if any(each.Recomputing for each in documents) else None
