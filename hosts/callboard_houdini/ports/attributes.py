"""The ``attributes`` port: any attribute of any object. Attributes are the object's parameters; a
new attribute is a spare parameter."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import hou

from callboard.errors import HostError
from callboard.host import MOST_ELEMENTS, Json
from callboard_houdini.application.names import find, telling
from callboard_houdini.parts.assets import refuse_inside_asset
from callboard_houdini.parts.parms import holds_file, refuse_keyed, runs_code
from callboard_houdini.parts.transforms import CHANNELS

#: The pattern also prevents a name from referring to a different node.
_NAME = re.compile(r"[A-Za-z_]\w{0,254}", re.ASCII)
#: Houdini's types of parameters that hold a value, as the port names them.
_LISTED = ("int", "float", "string", "toggle", "menu")
_WHOLE = 2**31
_MATERIAL = "shop_materialpath"


class HoudiniAttributes:
    def names(self, name: str) -> list[str]:
        several = find(name).parmTuples()
        return [
            str(each.name())
            for each in several
            if _NAME.fullmatch(each.name()) and _is_listed(each)
        ]

    def get(self, name: str, attribute: str) -> Json:
        node = find(name)
        named = _named(node, attribute)
        if named is None or not _is_listed(named):
            raise HostError(
                f"'{node.name()}' has no parameter '{attribute[:64]}' that holds a value;"
                " use attributes__list to find one"
            )
        values = [_value(each, _kind(named)) for each in named]
        value: Any = values if len(values) > 1 else values[0]
        driven = any(each.isLocked() or each.keyframes() for each in named)
        reported: Json = {"path": str(node.path()), "attribute": attribute, "type": _kind(named)}
        reported["writable"] = not driven and _refusal(named) is None
        if len(values) > MOST_ELEMENTS:
            return {**reported, "value": values[:MOST_ELEMENTS], "count": len(values)}
        return {**reported, "value": value}

    def set(self, name: str, attribute: str, value: object) -> str:
        node = find(name)
        named = _named(node, attribute)
        if named is None:
            refuse_inside_asset(node)
            converted = _own(attribute, value)
            with telling(f"add '{attribute}' to '{node.name()}'"):
                named = _added(node, attribute, value)
        else:
            refuse_inside_asset(node, values_only=True)
            if why := _refusal(named):
                raise HostError(f"'{attribute}' can't be set here: {why}")
            converted = _converted(named, value)
        for each in converted:
            if isinstance(each, str) and runs_code(named.parmTemplate(), attribute, each):
                raise HostError(
                    f"Houdini would run the value of '{attribute}' as code; use"
                    " script__execute for that, which the artist has to allow"
                )
        refuse_keyed(node, [attribute])
        with telling(f"set '{attribute}' of '{node.name()}'"):
            named.set(converted)
        return str(node.path())


def _named(node: hou.ObjNode, attribute: str) -> hou.ParmTuple | None:
    if not _NAME.fullmatch(attribute):
        raise HostError(
            f"'{attribute[:64]}' can't be a parameter in Houdini: use letters, digits and _, and"
            " don't begin with a digit"
        )
    return node.parmTuple(attribute)


def _kind(named: hou.ParmTuple) -> str:
    return str(named.parmTemplate().type().name()).lower()


def _is_listed(named: hou.ParmTuple) -> bool:
    return _kind(named) in _LISTED and len(named) > 0


def _refusal(named: hou.ParmTuple) -> str | None:
    """Return why the attribute can't be set, or None."""
    if named.name() in CHANNELS.values():
        return "use scene__transform to place objects"
    if named.name() == _MATERIAL:
        return "use materials__assign to give objects materials"
    if holds_file(named.parmTemplate()):
        return "it names a file; use houdini_networks__set_file"
    return None


def _value(one: hou.Parm, kind: str) -> Any:
    """Return the value as JSON. A string is returned as written, without replacing its
    variables."""
    if kind == "toggle":
        return bool(one.eval())
    if kind == "menu":
        return str(one.evalAsString())
    if kind == "string":
        try:
            return str(one.unexpandedString())
        except hou.OperationFailed:  # The value is an expression.
            return str(one.evalAsString())
    value = one.eval()
    return value if isinstance(value, (int, float)) and math.isfinite(value) else None


def _converted(named: hou.ParmTuple, value: object) -> list[Any]:
    """Return a value for each of the parameter's components. Raises HostError."""
    kind, count = _kind(named), len(named)
    parts: list[Any] = value if isinstance(value, list) else [value]
    right = isinstance(value, list) is (count > 1) and len(parts) == count
    if kind == "menu":
        items = [str(each) for each in named[0].menuItems()] if count == 1 else []
        if not right or parts[0] not in items:
            raise HostError(f"'{named.name()}' must be one of {', '.join(items[:50])}")
        return parts
    if not right or not all(_fits(kind, each) for each in parts):
        many = f"a list of {count} values of type {kind}" if count > 1 else kind
        raise HostError(f"'{named.name()}' must be {many}, not {repr(value)[:200]}")
    if kind == "toggle":
        return [int(each) for each in parts]
    return [float(each) for each in parts] if kind == "float" else parts


def _fits(kind: str, value: object) -> bool:
    if kind == "toggle":
        return isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str)
    if kind == "int":
        return _is_whole(value) and -_WHOLE <= int(str(value)) < _WHOLE
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _own(attribute: str, value: object) -> list[Any]:
    """Return a value for each component of a new parameter. Raises HostError when Houdini has no
    type of parameter for it."""
    parts: list[Any] = value if isinstance(value, list) else [value]
    kind = _kind_for(parts)
    if isinstance(value, list) and (len(parts) < 2 or kind not in ("int", "float")):
        raise HostError(
            f"'{attribute}' would be a new parameter; in Houdini, a list for a new parameter needs"
            " two or more numbers"
        )
    if not all(_fits(kind, each) for each in parts):
        raise HostError(
            f"'{attribute}' would be a new parameter, and no type of parameter can hold"
            f" {repr(value)[:200]}"
        )
    return [int(each) for each in parts] if kind == "toggle" else parts


def _kind_for(parts: Sequence[object]) -> str:
    if all(isinstance(each, bool) for each in parts):
        return "toggle"
    if all(isinstance(each, str) for each in parts):
        return "string"
    return "int" if all(_is_whole(each) for each in parts) else "float"


def _added(node: hou.ObjNode, attribute: str, value: object) -> hou.ParmTuple:
    parts = value if isinstance(value, list) else [value]
    kind, count = _kind_for(parts), len(parts)
    numbered = hou.parmNamingScheme.Base1
    made: hou.ParmTemplate
    if kind == "toggle":
        made = hou.ToggleParmTemplate(attribute, attribute)
    elif kind == "string":
        made = hou.StringParmTemplate(attribute, attribute, 1)
    elif kind == "int":
        made = hou.IntParmTemplate(attribute, attribute, count, naming_scheme=numbered)
    else:
        made = hou.FloatParmTemplate(attribute, attribute, count, naming_scheme=numbered)
    group = node.parmTemplateGroup()
    group.append(made)
    node.setParmTemplateGroup(group)
    named = node.parmTuple(attribute)
    if named is None:
        raise HostError(f"Houdini did not add '{attribute}' to '{node.name()}'")
    return named
