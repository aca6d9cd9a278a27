"""What a referenced file says. Maya keeps the scene's edits of its attributes, connections and
parents, but neither another name nor that a node is gone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from maya import cmds

from callboard.errors import HostError
from callboard_maya.names import bare


def refuse_referenced(paths: Iterable[str], change: str) -> None:
    """Raises HostError where one of the nodes is from a referenced file. ``change`` is the verb."""
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
