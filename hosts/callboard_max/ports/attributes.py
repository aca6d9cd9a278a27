"""The ``attributes`` port: any attribute of any object. Attributes are the properties of the node's
object; a new attribute is a custom attribute of the node."""

from __future__ import annotations

import math
import re
from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard.host import MOST_ELEMENTS, Json
from callboard_max.application.names import Node, find, path_of, telling
from callboard_max.parts.driven_values import has, refuse_controlled

#: The pattern also prevents a name from being run as code.
_NAME = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)
#: The prefix of the names of our definitions and of the attribute in each definition.
_OWN = "callboard_"
#: 3ds Max's types for an object's own attributes, by callboard's names for the types.
_TYPES = {
    "boolean": "#boolean",
    "integer": "#integer",
    "float": "#float",
    "string": "#string",
    "integers": "#intTab tabSizeVariable:true",
    "floats": "#floatTab tabSizeVariable:true",
}
_LONGEST, _LARGEST = 2**31, 3.4e38


class MaxAttributes:
    def names(self, name: str) -> list[str]:
        node = find(name)
        reported = [str(each).lstrip("#") for each in rt.getPropNames(node)]
        reported = [each for each in reported if _NAME.fullmatch(each) and _kind(_read(node, each))]
        return list(dict.fromkeys([*reported, *_owned(node)]))

    def get(self, name: str, attribute: str) -> Json:
        node = find(name)
        own = _owned(node).get(_checked(attribute))
        value = _read(node, attribute) if own is None else getattr(own, attribute)
        kind = _kind(value)
        if not kind:
            raise HostError(
                f"'{node.name}' has no property '{attribute}' that holds a value; use"
                " attributes__list to find one"
            )
        writable = own is not None or (kind != "string" and not _controlled(node, attribute))
        reported = {
            "path": path_of(node),
            "attribute": attribute,
            "type": kind,
            "writable": writable,
        }
        plain = _plain(value)
        if isinstance(plain, list) and len(plain) > MOST_ELEMENTS:
            return {**reported, "value": plain[:MOST_ELEMENTS], "count": len(plain)}
        return {**reported, "value": plain}

    def set(self, name: str, attribute: str, value: object) -> str:
        node = find(name)
        own = _owned(node).get(_checked(attribute))
        kind = _kind(_read(node, attribute) if own is None else getattr(own, attribute))
        if own is None and has(node, attribute):
            _refuse(node, attribute, kind)
            converted = _converted(attribute, kind, value)
            with telling(f"set '{attribute}' of '{node.name}'"):
                rt.setProperty(node, rt.Name(attribute), converted)
            return path_of(node)
        kind = kind or _kind_for(attribute, value)
        converted = _converted(attribute, kind, value)
        with telling(f"set '{attribute}' of '{node.name}'"):
            setattr(_added(node, attribute, kind) if own is None else own, attribute, converted)
        return path_of(node)


def _checked(attribute: str) -> str:
    if not _NAME.fullmatch(attribute):
        raise HostError(
            f"'{attribute[:64]}' can't be an attribute in 3ds Max: use up to 64 letters, digits and"
            " _, and don't begin with a digit"
        )
    return attribute


def _owned(node: Node) -> dict[str, Any]:
    """Return our custom attributes by name."""
    owned = {}
    for definition in rt.custAttributes.getDefs(node, baseobject=False) or ():
        name = str(definition.name).lstrip("#")
        if name.startswith(_OWN):
            held = rt.custAttributes.get(node, definition, baseobject=False)
            owned[name.removeprefix(_OWN)] = held
    return owned


def _added(node: Node, attribute: str, kind: str) -> Any:
    definition = rt.execute(
        f"attributes {_OWN}{attribute} (parameters main ({attribute} type:{_TYPES[kind]}))"
    )
    rt.custAttributes.add(node, definition, baseobject=False)
    made = _owned(node).get(attribute)
    if made is None:
        raise HostError(f"3ds Max did not add '{attribute}' to '{node.name}'")
    return made


def _read(node: Node, attribute: str) -> Any:
    return rt.getProperty(node, rt.Name(attribute)) if has(node, attribute) else None


def _kind(value: Any) -> str:
    """Return the kind, or an empty string for values that aren't reported: maps, nodes and the
    like."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, (float, str)):
        return "float" if isinstance(value, float) else "string"
    if _is_color(value):
        return "color"
    parts = _parts(value)
    if parts is None or any(_kind(each) not in ("integer", "float") for each in parts):
        return ""
    return "floats" if any(isinstance(each, float) for each in parts) else "integers"


def _is_color(value: Any) -> bool:
    return all(hasattr(value, each) for each in "rgb")


def _parts(value: Any) -> list[Any] | None:
    """Return the elements of a list, or None for anything else."""
    if value is None or hasattr(value, "x") or not hasattr(value, "__iter__"):
        return None
    try:
        return list(value)
    except (TypeError, RuntimeError):  # A wrapped value has ``__iter__`` even if it isn't a list.
        return None


def _plain(value: Any) -> Any:
    """Return the value as JSON. Colors keep 3ds Max's range, 0 to 255. Numbers that aren't finite
    become None."""
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    parts = [value.r, value.g, value.b] if _is_color(value) else _parts(value) or []
    return [_plain(each) for each in parts]


def _controlled(node: Node, attribute: str) -> bool:
    return rt.getPropertyController(node, rt.Name(attribute)) is not None


def _refuse(node: Node, attribute: str, kind: str) -> None:
    """Raise HostError for an attribute that can't be set."""
    if kind == "string":
        raise HostError(
            f"'{attribute}' can't be set here: such a string may name a file; set it with a script"
        )
    refuse_controlled(node, [attribute])
    if len(list(rt.refs.dependentNodes(node.baseObject))) > 1:
        raise HostError(
            f"'{node.name}' shares its shape with others, which would change too; make it unique in"
            " 3ds Max first"
        )


def _converted(attribute: str, kind: str, value: object) -> Any:
    """Return the value converted to that type. Raises HostError if the value doesn't fit the
    type."""
    if kind == "color" and isinstance(value, list) and len(value) == 3 and _all_numbers(value):
        return rt.Color(*map(float, value))
    if kind == "integers" and isinstance(value, list) and all(map(_is_whole, value)):
        return rt.Array(*value)
    if kind == "floats" and isinstance(value, list) and _all_numbers(value):
        return rt.Array(*map(float, value))
    if kind == "boolean" and isinstance(value, bool):
        return value
    if kind == "string" and isinstance(value, str):
        return value
    if kind == "integer" and _is_whole(value):
        return value
    if kind == "float" and _all_numbers([value]):
        return float(str(value))
    raise HostError(
        f"'{attribute}' must be {kind or 'left without a value'}, not {repr(value)[:200]}"
    )


def _kind_for(attribute: str, value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        if not value or not _all_numbers(value):
            raise HostError(
                f"'{attribute}' would be a new attribute; in 3ds Max, a new list must contain"
                " at least one number and nothing else"
            )
        return "integers" if all(_is_whole(each) for each in value) else "floats"
    return "integer" if _is_whole(value) else "float"


def _is_whole(value: object) -> bool:
    right = isinstance(value, int) and not isinstance(value, bool)
    return right and -_LONGEST <= int(str(value)) < _LONGEST


def _all_numbers(values: list[Any]) -> bool:
    """Return whether all values are numbers within 3ds Max's single precision."""
    return all(
        _is_whole(each) or (isinstance(each, float) and abs(each) < _LARGEST) for each in values
    )
