"""Finds objects by name, and reads their hierarchy.

An object is an object node in ``/obj``, or in a subnet of objects there. Its path is the node's
path, such as ``/obj/ball``. Its parent is the object wired into it, or else the subnet that
contains it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

import hou

from callboard.errors import HostError
from callboard_qt import family_of, only_one, translated

ROOT = "/obj"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_PATH = re.compile(r"/obj(?:/[A-Za-z0-9_.-]+)+")


def root() -> hou.Node:
    """Return the network of the scene's objects."""
    network = hou.node(ROOT)
    if network is None:
        raise HostError("Houdini has no scene open; wait until one has loaded")
    return network


def objects() -> list[hou.ObjNode]:
    """Return every object, in the networks' order."""
    return list(_walk(root()))


def _walk(network: hou.Node) -> Iterator[hou.ObjNode]:
    for child in network.children():
        if isinstance(child, hou.ObjNode):
            yield child
            if holds_objects(child):
                yield from _walk(child)


def holds_objects(node: hou.ObjNode) -> bool:
    """Return whether the node is a subnet whose objects may be changed."""
    return node.childTypeCategory() == hou.objNodeTypeCategory() and not node.isLockedHDA()


def parent_of(node: hou.ObjNode) -> hou.ObjNode | None:
    wired = node.inputs()
    if wired and isinstance(wired[0], hou.ObjNode):
        return wired[0]
    around = node.parent()
    return around if isinstance(around, hou.ObjNode) else None


def children_of(node: hou.ObjNode) -> list[hou.ObjNode]:
    near = [*node.outputs(), *(node.children() if holds_objects(node) else ())]
    children: dict[str, hou.ObjNode] = {}
    for child in near:
        if isinstance(child, hou.ObjNode) and parent_of(child) == node:
            children[child.path()] = child
    return list(children.values())


def family(node: hou.ObjNode) -> list[hou.ObjNode]:
    """Return the object and everything below it, parents first."""
    return family_of(node, children_of)


def find(name: str) -> hou.ObjNode:
    """Return the object with that name or path. Raises ObjectNotFound or AmbiguousName."""
    if len(name) <= 1024 and _PATH.fullmatch(name):
        node = hou.node(name)
        if isinstance(node, hou.ObjNode):
            return node
    everything = objects()
    namesakes = [node for node in everything if node.name() == name]
    return only_one(name, namesakes, lambda: (node.name() for node in everything), hou.ObjNode.path)


def type_of(node: hou.OpNode) -> str:
    """Return the node's type without its namespace and version."""
    return str(node.type().nameComponents()[2])


def check_new_name(name: str) -> None:
    """Raise HostError for a name that Houdini would refuse or change."""
    if len(name) > 255 or not _NAME.fullmatch(name):
        raise HostError(
            f"'{name[:64]}' can't be a name in Houdini: use letters, digits, _, - and ., and begin "
            "with a letter or _"
        )


def telling(what: str) -> AbstractContextManager[None]:
    """Turn Houdini's own errors into a HostError."""
    return translated("Houdini", what, hou.Error, reason)


def reason(error: Exception) -> str:
    """Return Houdini's description of the error."""
    assert isinstance(error, hou.Error)
    reported = error.instanceMessage() or error.description() or ""
    if not isinstance(error, hou.PermissionError):
        return reported
    take, first = hou.takes.currentTake(), hou.takes.rootTake()
    if take == first:
        return reported
    return (
        f"{reported.rstrip('.')}. The current take, '{take.name()}', allows changes only to the"
        " parameters that it includes: include the parameter, in the Takes pane, or make"
        f" '{first.name()}' current"
    )


def set_selection(paths: Sequence[str]) -> None:
    """Select nodes by path. Missing nodes are skipped."""
    hou.clearAllSelected()
    for path in paths:
        node = hou.node(path)
        if node is not None:
            node.setSelected(True)


def selected_paths() -> list[str]:
    """Return the paths of selected nodes of any kind, in any network."""
    return [node.path() for node in hou.selectedNodes()]
