"""Checks for animated values. Setting such a value without a key would shift all of its keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pymxs import runtime as rt

from callboard.errors import HostError


def has(thing: Any, name: str) -> bool:
    return bool(rt.isProperty(thing, rt.Name(name)))


def refuse_controlled(thing: Any, names: Iterable[str]) -> None:
    """Raise HostError when one of these properties has a controller."""
    for name in names:
        if has(thing, name) and rt.getPropertyController(thing, rt.Name(name)) is not None:
            raise HostError(
                f"'{name}' of '{thing.name}' has keys or a controller; delete them in 3ds Max first"
            )
