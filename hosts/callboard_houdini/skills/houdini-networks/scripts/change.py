"""Tools that change networks. Each reads back its result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hou

from callboard.content import Json
from callboard.errors import HostError, WrongArgument
from callboard_houdini.parts.networks import displayed, network_at, node_at, summary
from callboard_houdini.parts.parms import FRAME, holds_file, runs_code


def create_node(
    ctx: Any,
    network: str,
    type: str,
    name: str | None = None,
    inputs: Sequence[str | None] = (),
    parms: Mapping[str, Any] | None = None,
    display: bool = False,
) -> Json:
    ctx.port("scene.mutate")
    inside = network_at(network)
    with _telling(f"make a '{type}' in {network}"):
        made = inside.createNode(type, name)
        for index, source in enumerate(inputs):
            if source is not None:
                made.setInput(index, node_at(source))
        made.moveToGoodPosition(move_inputs=False, move_outputs=False, move_unconnected=False)
    _set(made, parms or {})
    if display:
        _display(made)
    return _done(made)


def connect_nodes(ctx: Any, path: str, source: str | None, input: int = 0) -> Json:
    ctx.port("scene.mutate")
    node = node_at(path)
    other = None if source is None else node_at(source)
    with _telling(f"wire input {input} of {path}"):
        node.setInput(input, other)
    wired = node.inputs()
    if (wired[input] if input < len(wired) else None) != other:
        raise HostError(f"Houdini did not wire input {input}; the change was undone")
    return _done(node)


def set_parms(ctx: Any, path: str, parms: Mapping[str, Any]) -> Json:
    ctx.port("scene.mutate")
    node = node_at(path)
    _set(node, parms)
    return _done(node)


def set_file(ctx: Any, path: str, parm: str, file: str) -> Json:
    """Set the file. ``file`` arrives resolved and checked."""
    for capability in ("scene.mutate", "filesystem.read", "filesystem.write"):
        ctx.port(capability)
    node = node_at(path)
    target = node.parm(parm)
    if target is None or not holds_file(target.parmTemplate()):
        raise WrongArgument(f"a {node.type().name()} has no parameter '{parm}' that holds a file")
    written = Path(file).as_posix()
    # The path with its variables expanded has never been checked.
    if "`" in written or "$" in FRAME.sub("", written):
        raise WrongArgument("a path can't contain expressions, or variables other than $F")
    with _telling(f"set '{parm}' of {node.path()}"):
        target.set(written)
    _read_back(parm, target, written)
    return _done(node)


def display_node(ctx: Any, path: str) -> Json:
    ctx.port("scene.mutate")
    node = node_at(path)
    _display(node)
    return _done(node)


def delete_nodes(ctx: Any, paths: Sequence[str]) -> Json:
    ctx.port("scene.mutate")
    doomed = {node.path(): node for node in map(node_at, paths)}
    for path, node in doomed.items():
        if not any(path.startswith(f"{other}/") for other in doomed):
            with _telling(f"delete {path}"):
                node.destroy()
    left = [path for path in doomed if hou.node(path) is not None]
    if left:
        raise HostError(f"{', '.join(left)} is still there; the change was undone")
    return {"deleted": list(doomed), "verified": True}


def _display(node: Any) -> None:
    if displayed(node) is None:
        raise WrongArgument(f"'{node.path()}' is a {node.type().name()}, which has no display flag")
    with _telling(f"display {node.path()}"):
        node.setDisplayFlag(True)
        if isinstance(node, hou.SopNode):
            node.setRenderFlag(True)
    if not displayed(node):
        raise HostError(f"Houdini does not display {node.path()}; the change was undone")


def _set(node: Any, parms: Mapping[str, Any]) -> None:
    for name, value in parms.items():
        target = node.parmTuple(name) if isinstance(value, (list, tuple)) else node.parm(name)
        if target is None:
            target = node.parmTuple(name)
            if target is None or len(target) != 1:
                raise WrongArgument(_no_parm(node, name, value))
            target = target[0]
        _refuse_code(node, name, target, value)
        if isinstance(value, str) and holds_file(target.parmTemplate()):
            raise WrongArgument(f"'{name}' holds a file; set it with houdini_networks__set_file")
        with _telling(f"set '{name}' of {node.path()}"):
            target.set(int(value) if isinstance(value, bool) else value)
        _read_back(name, target, value)


def _refuse_code(node: Any, name: str, target: Any, value: Any) -> None:
    """Raise WrongArgument for a value that Houdini would run, because that needs the artist's
    permission."""
    if isinstance(value, str) and runs_code(target.parmTemplate(), name, value):
        raise WrongArgument(
            f"'{name}' of a {node.type().name()} would run code; use script__execute for that, "
            "which the artist has to allow"
        )


def _no_parm(node: Any, name: str, value: Any) -> str:
    import difflib

    names = [each.name() for each in node.parmTuples()]
    if not isinstance(value, (list, tuple)):
        names += [each.name() for each in node.parms()]
    near = difflib.get_close_matches(name, names, n=5, cutoff=0.4)
    hint = ("nearest: " if near else "some of its parameters: ") + ", ".join(near or names[:10])
    return f"a {node.type().name()} has no parameter '{name}'; {hint}"


def _read_back(name: str, target: Any, value: Any) -> None:
    if isinstance(value, str):
        same = value in (target.evalAsString(), target.rawValue())
        value_now: Any = target.evalAsString()
    else:
        value_now = target.eval()
        wanted = list(value) if isinstance(value, (list, tuple)) else [value]
        there = list(value_now) if isinstance(value_now, tuple) else [value_now]
        same = len(wanted) == len(there) and all(
            isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-6)
            for a, b in zip(wanted, there, strict=True)
        )
    if not same:
        raise HostError(
            f"'{name}' should be {value!r}, but is {value_now!r}; the change was undone"
        )


def _done(node: Any) -> Json:
    return {"node": summary(node), "verified": True}


@contextmanager
def _telling(what: str) -> Iterator[None]:
    """Turn Houdini's own errors into a HostError."""
    try:
        yield
    except hou.Error as error:
        reason = " ".join((error.instanceMessage() or error.description()).split())
        raise HostError(f"Houdini could not {what}: {reason}") from None
