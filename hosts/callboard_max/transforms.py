"""Local transforms: relative to the parent, as translate, rotate (Euler XYZ, degrees), scale."""

from __future__ import annotations

from callboard.host import Vector
from callboard.hosting.matrices import Components, Rows, compose, decompose, inverse, times
from callboard_max.matrices import matrix_of, rows_of
from callboard_max.names import Node, parent_of, telling


def local(node: Node) -> Rows:
    above = parent_of(node)
    world = rows_of(node.transform)
    return world if above is None else times(world, inverse(rows_of(above.transform)))


def read(node: Node) -> Components:
    return decompose(local(node))


def write(
    node: Node, translate: Vector | None, rotate: Vector | None, scale: Vector | None
) -> None:
    """Sets the components that aren't None. What is below moves along."""
    now = local(node)
    asked = (translate, rotate, scale)
    if rotate is None and scale is None:
        # Keeps a shear, which components can't say.
        wanted = [*now[:3], list(now[3] if translate is None else translate)]
    else:
        parts = (
            old if new is None else new for old, new in zip(decompose(now), asked, strict=True)
        )
        wanted = compose(*parts)
    write_local(node, wanted)


def write_local(node: Node, wanted: Rows) -> None:
    above = parent_of(node)
    with telling(f"move '{node.name}'"):
        world = wanted if above is None else times(wanted, rows_of(above.transform))
        node.transform = matrix_of(world)
