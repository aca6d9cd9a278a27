"""Reads and sets parameters, which may be missing on a node and whose values may be of any kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import hou

from callboard.errors import HostError

#: The variable for the frame number in a file's name.
FRAME = re.compile(r"\$F[1-9]?(?![A-Za-z0-9_])")

#: Parameters of render nodes that Houdini runs as HScript or Python.
_HOOKS = ("prerender", "preframe", "postframe", "postwrite", "postrender")
_SCRIPT = re.compile(r"(^|_|pre|post|on)script|callback", re.IGNORECASE)


def parm(node: hou.OpNode, name: str) -> hou.Parm:
    """Return the parameter. Raises HostError when the node doesn't have that parameter."""
    named = node.parm(name)
    if named is None:
        raise HostError(f"'{node.name()}' is a {node.type().name()}, which has no '{name}'")
    return named


def parm_tuple(node: hou.OpNode, name: str) -> hou.ParmTuple:
    """Return the parameter tuple. Raises HostError when the node doesn't have that parameter."""
    named = node.parmTuple(name)
    if named is None:
        raise HostError(f"'{node.name()}' is a {node.type().name()}, which has no '{name}'")
    return named


def number(channel: hou.Parm, frame: float | None = None) -> float:
    """Return the value, now or at a frame, or 0 if it isn't a number."""
    value = channel.eval() if frame is None else channel.evalAtFrame(frame)
    return float(value) if isinstance(value, (int, float)) else 0.0


def numbers(channels: hou.ParmTuple, frame: float | None = None) -> list[float]:
    return [number(each, frame) for each in channels]


def set_numbers(channels: hou.ParmTuple, values: Sequence[float]) -> None:
    channels.set([float(value) for value in values])


def set_known(node: hou.OpNode, name: str, value: float | str) -> None:
    """Set a parameter if this version of the node has it."""
    known = node.parm(name)
    if known is not None:
        known.set(value)


def refuse_keyed(node: hou.OpNode, names: Iterable[str]) -> None:
    """Raise HostError when keys or an expression would reset the value."""
    for name in names:
        several = node.parmTuple(name)
        channels = [parm(node, name)] if several is None else list(several)
        if any(channel.keyframes() for channel in channels):
            raise HostError(
                f"'{name}' of '{node.name()}' has keys or an expression; delete its channels in"
                " Houdini first"
            )


def holds_file(template: hou.ParmTemplate) -> bool:
    """Return whether the parameter is a string that names a file."""
    if not isinstance(template, hou.StringParmTemplate):
        return False
    return bool(template.stringType() == hou.stringParmType.FileReference)


def runs_code(template: hou.ParmTemplate, name: str, value: str) -> bool:
    """Return whether Houdini would run that string as code, which needs the artist's permission.
    VEX doesn't count, because it can't reach anything outside."""
    language = template.tags().get("editorlang", "vex").lower()
    hook = name in _HOOKS or _SCRIPT.search(name) is not None
    return "`" in value or language != "vex" or hook
