"""Checks for values that can't be set on a node, or can't be set for one object alone. Call these
checks before anything changes."""

from __future__ import annotations

from collections.abc import Iterable

from maya import cmds

from callboard.errors import HostError
from callboard_maya.application.names import bare


def refuse_driven(path: str, plugs: Iterable[str]) -> None:
    """Raise HostError when keys or another node would reset the value."""
    for plug in plugs:
        if cmds.listConnections(plug, source=True, destination=False):
            raise HostError(
                f"{plug.rsplit('.', 1)[-1]} of '{bare(path)}' is driven by keys or another node;"
                " disconnect it in Maya's Channel Box first (Break Connections)"
            )


def refuse_instance(path: str, shape: str) -> None:
    """Raise HostError when other objects have the same shape."""
    if len(cmds.listRelatives(shape, allParents=True, fullPath=True) or []) > 1:
        raise HostError(
            f"'{bare(path)}' shares its {cmds.nodeType(shape)} with other objects; make it unique"
            " in Maya first (Modify > Convert > Instance to Object)"
        )
