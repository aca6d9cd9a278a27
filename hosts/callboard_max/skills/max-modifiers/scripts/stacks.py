"""The tools of the ``max-modifiers`` skill. Each tool that changes a stack checks the stack
afterwards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pymxs import runtime as rt

from callboard.content import Json
from callboard.errors import HostError, WrongArgument
from callboard_max.application.names import find, path_of, telling
from callboard_max.parts.shapes import is_geometry

#: 3ds Max's classes by the names that the tool accepts. Any other global stays out of reach.
_CLASSES = {
    "bend": "Bend",
    "chamfer": "ChamferMod",
    "lattice": "Lattice",
    "meshsmooth": "meshsmooth",
    "mirror": "mirror",
    "noise": "Noisemodifier",
    "normal": "Normalmodifier",
    "optimize": "optimize",
    "push": "push",
    "relax": "Relax",
    "ripple": "Ripple",
    "shell": "Shell",
    "skew": "Skew",
    "slice": "SliceModifier",
    "spherify": "Spherify",
    "stretch": "stretch",
    "symmetry": "symmetry",
    "taper": "Taper",
    "turbosmooth": "TurboSmooth",
    "twist": "Twist",
    "uvw_map": "Uvwmap",
    "wave": "Wave",
}


def list_modifiers(ctx: Any, name: str) -> Json:
    node = _geometry(name)
    return {
        "path": path_of(node),
        "base": str(rt.classOf(node.baseObject)),
        "faces": _faces(node),
        "modifiers": _stack(node),
    }


def add_modifier(
    ctx: Any, name: str, type: str, values: Mapping[str, Any] | None = None, below: int = 0
) -> Json:
    ctx.port("scene.mutate")
    node = _geometry(name)
    faces, count = _faces(node), len(list(node.modifiers))
    if below > count:
        raise WrongArgument(
            f"below must be between 0 and {count}, the number of modifiers in the stack"
        )
    make = getattr(rt, _CLASSES[type], None)
    if make is None:
        raise WrongArgument(f"this 3ds Max has no modifier '{type}'")
    with telling(f"add a {type} to '{node.name}'"):
        if below:
            rt.addModifier(node, make(), before=below)
        else:
            rt.addModifier(node, make())
    stack = list(node.modifiers)
    if len(stack) != count + 1:
        raise HostError(f"3ds Max did not add the {type}; the change was undone")
    _set(stack[below], values or {})
    return _edited(node, faces)


def set_modifier(
    ctx: Any,
    name: str,
    index: int,
    values: Mapping[str, Any] | None = None,
    enabled: bool | None = None,
) -> Json:
    if not values and enabled is None:
        raise WrongArgument("nothing to change: give values, or enabled")
    ctx.port("scene.mutate")
    node = _geometry(name)
    faces = _faces(node)
    modifier = _modifier(node, index)
    _set(modifier, values or {})
    if enabled is not None:
        with telling("switch the modifier"):
            modifier.enabled = enabled
        if bool(modifier.enabled) is not enabled:
            raise HostError("3ds Max did not switch the modifier on or off; the change was undone")
    return _edited(node, faces)


def remove_modifier(ctx: Any, name: str, index: int) -> Json:
    ctx.port("scene.mutate")
    node = _geometry(name)
    faces, count = _faces(node), len(list(node.modifiers))
    with telling(f"remove a modifier of '{node.name}'"):
        rt.deleteModifier(node, _modifier(node, index))
    if len(list(node.modifiers)) != count - 1:
        raise HostError("3ds Max did not remove the modifier; the change was undone")
    return _edited(node, faces)


def collapse_stack(ctx: Any, name: str) -> Json:
    ctx.port("scene.mutate")
    node = _geometry(name)
    faces = _faces(node)
    with telling(f"collapse '{node.name}'"):
        rt.maxOps.CollapseNode(node, True)
    if list(node.modifiers) or _faces(node) != faces:
        raise HostError(f"3ds Max did not collapse '{node.name}'; the change was undone")
    return _edited(node, faces)


def _geometry(name: str) -> Any:
    node = find(name)
    if not is_geometry(node):
        raise WrongArgument(
            f"'{name}' is a {rt.classOf(node.baseObject)}, which can't have modifiers"
        )
    return node


def _modifier(node: Any, index: int) -> Any:
    stack = list(node.modifiers)
    if index > len(stack):
        raise WrongArgument(
            f"'{node.name}' has no modifier {index}; modifiers in its stack: {len(stack)}"
        )
    return stack[index - 1]


def _faces(node: Any) -> int:
    return int(rt.getTriMeshFaceCount(node)[0])


def _stack(node: Any) -> list[Json]:
    return [
        {
            "index": index,
            "name": str(modifier.name),
            "type": str(rt.classOf(modifier)),
            "enabled": bool(modifier.enabled),
            "values": _values(modifier),
        }
        for index, modifier in enumerate(node.modifiers, start=1)
    ]


def _values(modifier: Any) -> Json:
    """Return the modifier's numbers and booleans. Gizmos, curves and maps are left out."""
    values: Json = {}
    for name in _names(modifier):
        value = getattr(modifier, name, None)
        if isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)):
            values[name] = value
    return values


def _names(modifier: Any) -> list[str]:
    return [str(name).lstrip("#") for name in rt.getPropNames(modifier)]


def _set(modifier: Any, values: Mapping[str, Any]) -> None:
    known = {name.lower(): name for name in _names(modifier)}
    for name, value in values.items():
        key = known.get(name.lower())
        there = getattr(modifier, key) if key is not None else None
        if key is None or not isinstance(there, (bool, int, float)):
            near = ", ".join(_values(modifier))
            raise WrongArgument(f"{rt.classOf(modifier)} has no value '{name}'; it has: {near}")
        if isinstance(there, bool) != isinstance(value, bool):
            kind = "true or false" if isinstance(there, bool) else "a number"
            raise WrongArgument(f"'{name}' of {rt.classOf(modifier)} must be {kind}, not {value!r}")
        with telling(f"set '{name}'"):
            setattr(modifier, key, value)
        value_now = getattr(modifier, key)
        if not math.isclose(value_now, value, rel_tol=1e-5, abs_tol=1e-6):
            raise HostError(
                f"'{name}' should be {value}, but is {value_now}; the change was undone"
            )


def _edited(node: Any, before: int) -> Json:
    return {
        "path": path_of(node),
        "modifiers": _stack(node),
        "before": before,
        "after": _faces(node),
        "verified": True,
    }
