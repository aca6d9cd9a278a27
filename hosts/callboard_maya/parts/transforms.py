"""Reads and sets local transforms as translate, rotate (Euler XYZ, degrees) and scale.

An object's channels have exactly these values, unless the object has a different rotate order, a
rotate axis or a joint orientation. Such objects are read and written through their matrix.
"""

from __future__ import annotations

from math import degrees, radians
from typing import Any

from maya import cmds

from callboard.errors import HostError
from callboard.host import Components, Vector, compose, decompose, rows_of_sixteen, sixteen_of
from callboard_maya.application.names import bare, telling
from callboard_maya.parts.keys import refuse_keyed
from callboard_maya.parts.units import from_centimetres, to_centimetres
from callboard_qt import COMPONENTS


def read(path: str) -> Components:
    if not is_plain(path):
        return decompose(from_centimetres(rows_of_sixteen(cmds.getAttr(f"{path}.matrix"))))
    return channels(path)


def channels(path: str, frame: float | None = None) -> Components:
    """Return the values of the channels, now or at a frame."""
    translate, rotate, scale = (
        [float(value) for value in _attribute(f"{path}.{name}", frame)[0]]
        for name in ("translate", "rotate", "scale")
    )
    return translate, [from_host_angle(angle) for angle in rotate], scale


def _attribute(plug: str, frame: float | None) -> Any:
    return cmds.getAttr(plug) if frame is None else cmds.getAttr(plug, time=frame)


def write(path: str, translate: Vector | None, rotate: Vector | None, scale: Vector | None) -> None:
    """Set the components that aren't None."""
    asked = zip(COMPONENTS, (translate, rotate, scale), strict=True)
    plain = is_plain(path)
    refuse_keyed(path, [name for name, value in asked if value is not None or not plain])
    with telling(f"move '{bare(path)}'"):
        if not plain:
            now = read(path)
            wanted = [
                old if new is None else new
                for old, new in zip(now, (translate, rotate, scale), strict=True)
            ]
            # Sixteen numbers: the published stubs require a tuple of exactly that length.
            matrix = sixteen_of(to_centimetres(compose(*wanted)))
            cmds.xform(path, objectSpace=True, matrix=matrix)  # type: ignore[call-overload]
            return
        if translate is not None:
            cmds.setAttr(f"{path}.translate", *translate, type="double3")
        if rotate is not None:
            turned = [to_host_angle(angle) for angle in rotate]
            cmds.setAttr(f"{path}.rotate", *turned, type="double3")
        if scale is not None:
            cmds.setAttr(f"{path}.scale", *scale, type="double3")


def is_plain(path: str) -> bool:
    if cmds.getAttr(f"{path}.rotateOrder") != 0 or any(cmds.getAttr(f"{path}.rotateAxis")[0]):
        return False
    return cmds.nodeType(path) != "joint" or not any(cmds.getAttr(f"{path}.jointOrient")[0])


def require_plain(path: str) -> None:
    """Raise HostError unless the rotation channels are plain Euler XYZ angles. Otherwise keys on
    these channels would have a different meaning."""
    if not is_plain(path):
        raise HostError(
            f"'{bare(path)}' has a rotate axis, a joint orientation or a rotate order other "
            "than xyz; animate a parent of it instead"
        )


def to_host_angle(angle: float) -> float:
    return radians(angle) if _in_radians() else angle


def from_host_angle(angle: float) -> float:
    return degrees(angle) if _in_radians() else angle


def _in_radians() -> bool:
    return str(cmds.currentUnit(query=True, angle=True)).startswith("rad")
