"""Checks for prims that can't be changed because several instances share them."""

from __future__ import annotations

from pxr import Usd

from callboard.errors import HostError


def owned(prim: Usd.Prim) -> Usd.Prim:
    """Return the prim. Raises HostError if it can't be changed because it is inside an instance."""
    if not prim.IsInstanceProxy():
        return prim
    instance = prim
    while instance.IsInstanceProxy():
        instance = instance.GetParent()
    raise HostError(
        f"'{prim.GetName()}' is shared by all instances like '{instance.GetPath()}', so it can't be"
        f" changed here: change '{instance.GetName()}' as a whole, or the file it refers to"
    )


def owned_parent(prim: Usd.Prim) -> Usd.Prim:
    """Return the prim. Raises HostError if it can't have children of its own."""
    if owned(prim).IsInstance():
        raise HostError(
            f"'{prim.GetName()}' is an instance, which can't have children of its own; choose "
            f"another parent"
        )
    return prim
