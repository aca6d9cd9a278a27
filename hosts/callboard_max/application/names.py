"""Finds objects by name, and reads their hierarchy.

An object is a node. 3ds Max lets several nodes have the same name, even under one parent. So a path
lists the names from the top, as in ``/Group/Ball``. If several nodes share a path, the handle of
each is added to its path: ``/Group/Ball@57``.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError
from callboard_qt import family_of, only_one, translated

#: A node, as pymxs wraps it. There are no published types.
Node = Any

_LONGEST = 1024


def objects() -> list[Node]:
    """Return every node, in 3ds Max's order."""
    return list(rt.objects)


def handle(node: Node) -> int:
    """Return the number that identifies a node while its scene is open."""
    return int(node.inode.handle)


def parent_of(node: Node) -> Node | None:
    return node.parent


def children_of(node: Node) -> list[Node]:
    return list(node.children)


def family(node: Node) -> list[Node]:
    """Return the object and everything below it, parents first."""
    return family_of(node, children_of)


def path_of(node: Node) -> str:
    plain = _plain_path(node)
    twins = [each for each in _named(str(node.name)) if _plain_path(each) == plain]
    return f"{plain}@{handle(node)}" if len(twins) > 1 else plain


def paths_of(nodes: list[Node]) -> list[str]:
    """Return the paths of many nodes, which is faster than one at a time."""
    plain = {handle(node): _plain_path(node) for node in objects()}
    times: dict[str, int] = {}
    for path in plain.values():
        times[path] = times.get(path, 0) + 1
    paths = []
    for node in nodes:
        path = plain[handle(node)]
        paths.append(f"{path}@{handle(node)}" if times[path] > 1 else path)
    return paths


def find(name: str) -> Node:
    """Return the object with that name or path. Raises ObjectNotFound or AmbiguousName."""
    namesakes: list[Node] = []
    if name and len(name) <= _LONGEST and "\0" not in name:
        namesakes = _named(name) or _at_path(name)
    return only_one(name, namesakes, lambda: (str(node.name) for node in objects()), path_of)


def is_taken(name: str) -> bool:
    return bool(_named(name))


def free_name(name: str) -> str:
    """Return the name, with 3ds Max's own suffix if it is taken: ``Ball001``."""
    return str(rt.uniqueName(name)) if is_taken(name) else name


def check_new_name(name: str) -> None:
    """Raise HostError for a name that couldn't be found again, or that looks like a path."""
    odd = any(letter in "/@" or not letter.isprintable() for letter in name)
    if not name.strip() or name != name.strip() or len(name) > 255 or odd:
        raise HostError(
            f"'{name[:64]}' can't be a name here: use 1 to 255 printable characters without / or "
            "@, and no space at either end"
        )


def telling(what: str) -> AbstractContextManager[None]:
    """Turn 3ds Max's own errors into a HostError."""
    return translated("3ds Max", what, RuntimeError)


def _named(name: str) -> list[Node]:
    namesakes = rt.getNodeByName(name, exact=True, ignoreCase=False, all=True)
    return list(namesakes) if namesakes is not None else []


def _at_path(path: str) -> list[Node]:
    if not path.startswith("/"):
        return []
    plain, at, number = path.rpartition("@")
    if not at or not number.isdecimal() or not number.isascii():
        plain, number = path, ""
    near = _named(plain.rsplit("/", 1)[-1])
    there = [node for node in near if _plain_path(node) == plain]
    return [node for node in there if handle(node) == int(number)] if number else there


def _plain_path(node: Node) -> str:
    parts: list[str] = []
    at: Node | None = node
    while at is not None:
        parts.append(str(at.name))
        at = at.parent
    return "/" + "/".join(reversed(parts))
