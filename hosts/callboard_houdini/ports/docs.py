"""The ``docs`` port: Houdini's documentation of its node types and Python module."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import hou

from callboard.content import Json
from callboard.host import MOST_LISTED, DocEntry, KeptDocs

#: Parameters that only arrange other parameters.
_LAYOUT = ("FolderSet", "Folder", "Separator", "Label", "Button")


class HoudiniDocs(KeptDocs):
    """Entries for node types, such as ``Sop/box``, including digital assets' embedded help, and for
    ``hou``'s classes, functions and methods."""

    def _read(self) -> Iterator[DocEntry]:
        for category, types in hou.nodeTypeCategories().items():
            for name, kind in types.nodeTypes().items():
                if not (isinstance(kind, hou.OpNodeType) and kind.hidden()):
                    text = f"{kind.description()}. {kind.embeddedHelp()}"
                    yield DocEntry(f"{category}/{name}", "node type", text)
        for name in dir(hou):
            thing = None if name.startswith("_") else _member(name)
            if inspect.isclass(thing):
                yield DocEntry(f"hou.{name}", "class", thing.__doc__ or "")
                for method, function in vars(thing).items():
                    if not method.startswith("_") and callable(function):
                        text = function.__doc__ or ""
                        yield DocEntry(f"hou.{name}.{method}", "method", text)
            elif callable(thing):
                yield DocEntry(f"hou.{name}", "function", thing.__doc__ or "")

    def details(self, entry: DocEntry) -> Json:
        if entry.kind != "node type":
            return {}
        category, _, name = entry.name.partition("/")
        types = hou.nodeTypeCategories().get(category)
        kind = types.nodeTypes().get(name) if types is not None else None
        if kind is None:  # The asset has been uninstalled in the meantime.
            return {}
        reported = [
            _reported(parm) for parm in kind.parmTemplates() if parm.type().name() not in _LAYOUT
        ]
        return {"inputs": int(kind.maxNumInputs()), "parameters": reported[:MOST_LISTED]}


def _member(name: str) -> object:
    """Return the member, or None when it exists only with a GUI."""
    try:
        return getattr(hou, name)
    except (AttributeError, hou.Error):
        return None


def _reported(parm: hou.ParmTemplate) -> Json:
    entry: Json = {"name": str(parm.name()), "label": str(parm.label())}
    entry["type"] = str(parm.type().name()).lower()
    if parm.numComponents() > 1:
        entry["length"] = int(parm.numComponents())
    if isinstance(parm, hou.MenuParmTemplate):
        entry["choices"] = [str(item) for item in parm.menuItems()][:MOST_LISTED]
    return entry
