"""Finds objects by name, and translates the application's errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from callboard.errors import HostError
from callboard.host import AmbiguousName, ObjectNotFound, nearest_names

_Node = TypeVar("_Node")


def only_one(
    name: str,
    nodes: Sequence[_Node],
    every_name: Callable[[], Iterable[str]],
    path: Callable[[_Node], str],
) -> _Node:
    """Return the only one of ``nodes``. Raises ObjectNotFound with similar names if there is none,
    and AmbiguousName with the paths if there are several."""
    if not nodes:
        raise ObjectNotFound(name, nearest_names(name, every_name()))
    if len(nodes) > 1:
        raise AmbiguousName(name, [path(node) for node in nodes])
    return nodes[0]


def family_of(node: _Node, children: Callable[[_Node], Iterable[_Node]]) -> list[_Node]:
    """Return the object and everything below it, parents first."""
    family, waiting = [], [node]
    while waiting:
        family.append(waiting.pop())
        waiting += reversed(list(children(family[-1])))
    return family


@contextmanager
def translated(
    application: str,
    what: str,
    errors: type[Exception] | tuple[type[Exception], ...],
    reason: Callable[[Exception], str] = str,
) -> Iterator[None]:
    """Turn the application's own errors into a HostError on one line: ``<application> could not
    <what>: <reason>``."""
    try:
        yield
    except HostError:
        raise
    except errors as error:
        lines = [line.strip() for line in reason(error).splitlines() if line.strip()]
        why = " ".join(lines) or "no reason"
        raise HostError(f"{application} could not {what}: {why}") from None
