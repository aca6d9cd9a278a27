"""The prims that are objects of the scene, and the location for new objects.

An object is a transformable prim. If ``/World`` is an active Xform without transform operations, it
is the scene itself: its children have no parent, and new objects are added below it. Otherwise new
objects are added at the root.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf, Usd, UsdGeom

WORLD = Sdf.Path("/World")


def home(stage: Usd.Stage) -> Sdf.Path:
    """Return the path under which objects without a parent are added."""
    world = stage.GetPrimAtPath(WORLD)
    return WORLD if world and _is_world(world) else Sdf.Path.absoluteRootPath


def _is_world(prim: Usd.Prim) -> bool:
    """Return whether the prim is the ``/World`` that is the scene itself. A ``/World`` with any
    transform, even a constant one, is an object."""
    return (
        prim.GetName() == WORLD.name
        and prim.GetPath() == WORLD
        and prim.GetTypeName() == "Xform"
        and prim.IsActive()
        and prim.IsDefined()
        and not prim.IsAbstract()
        and not prim.IsInstance()
        and not UsdGeom.Xformable(prim).GetOrderedXformOps()
    )


def is_object(prim: Usd.Prim) -> bool:
    return bool(prim.IsA(UsdGeom.Xformable)) and not _is_world(prim)


def objects_in(prim: Usd.Prim) -> Iterator[Usd.Prim]:
    """Return ``prim``, if it is an object, and the objects below it."""
    return (each for each in Usd.PrimRange(prim) if is_object(each))


def parent_of(prim: Usd.Prim) -> Usd.Prim | None:
    """Return the nearest object above. Groups without a transform are skipped."""
    parent = prim.GetParent()
    while parent and not parent.IsPseudoRoot():
        if is_object(parent):
            return parent
        parent = parent.GetParent()
    return None


def children_of(prim: Usd.Prim) -> Iterator[Usd.Prim]:
    walk = iter(Usd.PrimRange(prim))
    next(walk)
    for child in walk:
        if is_object(child):
            walk.PruneChildren()
            yield child
