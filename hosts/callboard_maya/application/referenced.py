"""Checks for nodes that come from another file through a reference or an assembly. Maya saves the
scene's edits to their attributes, connections and parents, but neither new names nor removals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from maya import cmds

from callboard.errors import HostError
from callboard_maya.application.names import bare


def refuse_members(paths: Sequence[str], change: str) -> None:
    """Raise HostError when a node is part of an assembly, unless the assembly is itself among the
    paths. ``change`` is the verb for the error, such as ``rename``."""
    # Without a plug-in for assemblies, Maya has no such types.
    types: Any = cmds.assembly(query=True, listTypes=True)
    for assembly in (cmds.ls(type=types, long=True) or []) if types else []:
        namespace = cmds.assembly(assembly, query=True, repNamespace=True)
        for path in paths:
            if f":{namespace}:" in f":{bare(path)}" and assembly not in paths:
                raise HostError(
                    f"'{bare(path)}' is part of the assembly '{bare(assembly)}', so the"
                    f" change would be lost when the scene is opened again; {change} it in the file"
                    f" that the assembly shows, or {change} the assembly as a whole"
                )


def refuse_referenced(paths: Sequence[str], change: str) -> None:
    """Raise HostError when a node is from a referenced file. ``change`` is the verb for the error,
    such as ``rename``."""
    if not cmds.file(query=True, reference=True):
        return
    for path in paths:
        if cmds.referenceQuery(path, isNodeReferenced=True):
            file = cmds.referenceQuery(path, filename=True, withoutCopyNumber=True)
            raise HostError(
                f"'{bare(path)}' is referenced from {PurePath(str(file)).name}, so Maya can't "
                f"{change} it here; {change} it in that file, or import or remove the reference "
                "first, in the Reference Editor"
            )
