"""The ``attributes`` port: any attribute of any object. As in Maya itself, an attribute that the
object doesn't have is searched for on the object's shape."""

from __future__ import annotations

import math
import re
from typing import Any

from maya import cmds

from callboard.errors import HostError
from callboard.host import MOST_ELEMENTS, Json
from callboard_maya.application.names import bare, find, telling
from callboard_maya.parts.plugs import refuse_driven, refuse_instance
from callboard_maya.parts.shapes import shape_of

_NAME = re.compile(r"[A-Za-z_]\w{0,254}", re.ASCII)
_WHOLE = {"byte": 2**7, "short": 2**15, "long": 2**31}
_NUMBERS = ("float", "double", "doubleLinear", "doubleAngle", "time")
#: Types whose values consist of several numbers. Each type's name ends in the count.
_TUPLES = (
    *("double2", "double3", "double4", "float2", "float3"),
    *("long2", "long3", "short2", "short3"),
)
_ARRAYS = ("doubleArray", "Int32Array")
_LISTED = ("bool", "enum", "string", *_WHOLE, *_NUMBERS, *_TUPLES, *_ARRAYS)
_PLACES = re.compile(r"(translate|rotate|scale|shear)[XYZ]{0,2}")


class MayaAttributes:
    def names(self, name: str) -> list[str]:
        path = find(name)
        shape = shape_of(path)
        reported: list[str] = []
        for node in (path, shape):
            known = cmds.listAttr(node, read=True) if node is not None else None
            # A name with dots denotes a part of another attribute.
            whole = [str(each) for each in known or [] if _NAME.fullmatch(each)]
            reported += [each for each in whole if _type(f"{node}.{each}") in _LISTED]
        return list(dict.fromkeys(reported))

    def get(self, name: str, attribute: str) -> Json:
        path = find(name)
        node = _owner(path, attribute)
        plug = f"{node}.{attribute}"
        kind = _type(plug) if node is not None else None
        if node is None or kind not in _LISTED:
            raise HostError(
                f"'{bare(path)}' has no attribute '{attribute[:64]}' that holds a value;"
                " use attributes__list to find one"
            )
        value = _value(plug, kind)
        writable = bool(cmds.getAttr(plug, settable=True)) and _refusal(node, attribute) is None
        reported: Json = {"path": path, "attribute": attribute, "type": kind, "writable": writable}
        if isinstance(value, list) and len(value) > MOST_ELEMENTS:
            return {**reported, "value": value[:MOST_ELEMENTS], "count": len(value)}
        return {**reported, "value": value}

    def set(self, name: str, attribute: str, value: object) -> str:
        path = find(name)
        node = _owner(path, attribute)
        if node is None:
            _add(path, attribute, value)
            return path
        plug = f"{node}.{attribute}"
        kind = _type(plug) or "left without a value"
        if why := _refusal(node, attribute):
            raise HostError(f"'{attribute}' can't be set here: {why}")
        converted = _converted(plug, kind, value)
        refuse_driven(path, [plug])
        if node != path:
            refuse_instance(path, node)
        with telling(f"set '{attribute}' of '{bare(path)}'"):
            _write(plug, kind, converted)
        return path


def _owner(path: str, attribute: str) -> str | None:
    """Return the object or its shape, whichever has the attribute, or None. Raises HostError for a
    name that Maya doesn't allow."""
    if not _NAME.fullmatch(attribute):
        raise HostError(
            f"'{attribute[:64]}' can't be an attribute in Maya: use letters, digits and _, and"
            " don't begin with a digit"
        )
    for node in (path, shape_of(path)):
        if node is not None and cmds.attributeQuery(attribute, node=node, exists=True):
            return node
    return None


def _type(plug: str) -> str | None:
    """Return Maya's type, or None for an attribute that has no value, such as one that groups other
    attributes."""
    try:
        # The published stubs declare the type as a value.
        return str(cmds.getAttr(plug, type=True))
    except (RuntimeError, ValueError):
        return None


def _refusal(node: str, attribute: str) -> str | None:
    """Return why the attribute can't be set, or None."""
    # Maya accepts short names too, such as `tx`.
    if _PLACES.fullmatch(str(cmds.attributeQuery(attribute, node=node, longName=True))):
        return "use scene__transform to place objects"
    if cmds.attributeQuery(attribute, node=node, usedAsFilename=True):
        return "it names a file; use materials__set_texture or another tool for files"
    return None


def _value(plug: str, kind: str) -> Any:
    """Return the value as JSON, with None for multi attributes and for numbers that aren't
    finite."""
    try:
        return _read(plug, kind)
    except (RuntimeError, ValueError, TypeError, IndexError):
        return None


def _read(plug: str, kind: str) -> Any:
    if kind == "enum":
        return str(cmds.getAttr(plug, asString=True))
    value: Any = cmds.getAttr(plug)
    if kind in _TUPLES:
        return [_plain(part) for part in value[0]]
    if kind in _ARRAYS:
        return [_plain(part) for part in value or ()]
    return str(value or "") if kind == "string" else _plain(value)


def _plain(value: Any) -> Any:
    return value if not isinstance(value, float) or math.isfinite(value) else None


def _converted(plug: str, kind: str, value: object) -> Any:
    """Return the value converted to that type. Raises HostError if the value doesn't fit the
    type."""
    name = plug.rsplit(".", 1)[-1]
    if kind == "enum":
        return _choice(plug, name, value)
    parts: list[Any] = value if isinstance(value, list) else [value]
    if kind in _TUPLES:
        right = isinstance(value, list) and len(parts) == int(kind[-1])
    else:
        right = isinstance(value, list) is (kind in _ARRAYS)
    whole = kind in _WHOLE or kind.startswith(("long", "short", "Int32"))
    if kind in ("bool", "string"):
        right = right and isinstance(value, bool if kind == "bool" else str)
    elif whole:
        limit = _WHOLE.get(kind.rstrip("23"), 2**31)
        right = right and all(_is_whole(part) and -limit <= part < limit for part in parts)
    else:
        right = right and kind in _LISTED and all(_is_number(part) for part in parts)
    if not right:
        raise HostError(f"'{name}' must be {kind}, not {repr(value)[:200]}")
    return value


def _choice(plug: str, name: str, value: object) -> int:
    """Return the number of the enumeration value that ``value`` names. Maya lists an enumeration's
    values as ``Red:Blue=4``."""
    node = plug.rsplit(".", 1)[0]
    # The published stubs have no list of names.
    listed: Any = cmds.attributeQuery(name, node=node, listEnum=True)
    numbers: dict[str, int] = {}
    for word in str(listed[0]).split(":"):
        label, _, number = word.partition("=")
        numbers[label] = int(number) if number else max(numbers.values(), default=-1) + 1
    if not isinstance(value, str) or value not in numbers:
        raise HostError(f"'{name}' must be one of {', '.join(numbers)}")
    return numbers[value]


def _add(path: str, attribute: str, value: object) -> None:
    """Add an attribute to the object."""
    kind = _kind_for(attribute, value)
    plug = f"{path}.{attribute}"
    with telling(f"add '{attribute}' to '{bare(path)}'"):
        if kind in ("string", *_ARRAYS):
            cmds.addAttr(path, longName=attribute, dataType=kind)
        else:
            cmds.addAttr(path, longName=attribute, attributeType=kind, keyable=True)
        _write(plug, kind, _converted(plug, kind, value))


def _kind_for(attribute: str, value: object) -> str:
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        if value and all(_is_whole(part) for part in value):
            return "Int32Array"
        if value and all(_is_number(part) for part in value):
            return "doubleArray"
        raise HostError(
            f"'{attribute}' would be a new attribute; in Maya, a new list must contain at"
            " least one number and nothing else"
        )
    return "bool" if isinstance(value, bool) else "long" if _is_whole(value) else "double"


def _write(plug: str, kind: str, value: Any) -> None:
    if kind in _TUPLES:
        cmds.setAttr(plug, *value, type=kind)
    elif kind in ("string", *_ARRAYS):
        cmds.setAttr(plug, value, type=kind)
    else:
        cmds.setAttr(plug, value)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))
