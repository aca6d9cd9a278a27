"""Checks for nodes inside locked digital assets. An asset's file defines these nodes, and they are
read-only in the scene."""

from __future__ import annotations

import hou

from callboard.errors import HostError

_TO_DO = (
    "set the asset's own parameters, or let the artist choose Allow Editing of Contents on it first"
)


def refuse_inside_asset(node: hou.ObjNode, *, values_only: bool = False) -> None:
    """Raise HostError when the object is inside a locked asset. With ``values_only``, a node that
    the asset leaves editable passes."""
    if not node.isInsideLockedHDA() or (values_only and node.isEditableInsideLockedHDA()):
        return
    around, asset = node.parent(), ""
    while isinstance(around, hou.OpNode):
        asset = around.path() if around.isLockedHDA() else asset
        around = around.parent()
    raise HostError(f"'{node.name()}' is inside the locked asset {asset}; {_TO_DO}")


def refuse_contents(node: hou.ObjNode) -> None:
    """Raise HostError when something new would have to go into a locked asset."""
    refuse_inside_asset(node)
    if node.isLockedHDA():
        raise HostError(f"'{node.path()}' is a locked asset, so nothing can be added; {_TO_DO}")
