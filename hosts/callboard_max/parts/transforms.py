"""Reads and sets local transforms relative to the parent, as translate, rotate (Euler XYZ, degrees)
and scale."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import Components, Rows, Vector, compose, decompose, inverse, times
from callboard_max.application.names import Node, parent_of, telling
from callboard_max.parts.matrices import matrix_of, rows_of

#: The numbers of each component's first and last lock among the nine of ``getTransformLockFlags``.
_LOCKS = {"translate": (1, 3), "rotate": (4, 6), "scale": (7, 9)}


def refuse_locked(node: Node, components: Iterable[str] = _LOCKS) -> None:
    """Raise HostError when the artist has locked an axis of one of these components. 3ds Max's
    manual doesn't say whether locks apply to scripts, but callboard respects them."""
    flags = str(rt.getTransformLockFlags(node))  # The text looks like #{1..3, 9}.
    spans = [(int(a), int(b or a)) for a, b in re.findall(r"(\d+)(?:\.\.(\d+))?", flags)]
    for component in components:
        first, last = _LOCKS[component]
        if any(low <= last and high >= first for low, high in spans):
            raise HostError(
                f"'{node.name}' has a lock on its {component}; unlock it in the Hierarchy panel, "
                "below Link Info > Locks, or leave it as it is"
            )


def local(node: Node) -> Rows:
    above = parent_of(node)
    world = rows_of(node.transform)
    return world if above is None else times(world, inverse(rows_of(above.transform)))


def read(node: Node) -> Components:
    return decompose(local(node))


def write(
    node: Node, translate: Vector | None, rotate: Vector | None, scale: Vector | None
) -> None:
    """Set the components that aren't None. Objects below the node move with it."""
    now = local(node)
    asked = (translate, rotate, scale)
    given = zip(_LOCKS, asked, strict=True)
    refuse_locked(node, [component for component, value in given if value is not None])
    if rotate is None and scale is None:
        # Keep a shear, which components can't express.
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
