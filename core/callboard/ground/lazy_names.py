"""The names of a public interface. Each is loaded when it is first used, so that a host loads only
what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    face: str, homes: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a module. ``homes`` maps modules to
    the names that the interface exports from each, separated by spaces."""
    home_of = {name: home for home, names in homes.items() for name in names.split()}
    names = sorted(home_of)

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module '{face}' has no attribute '{name}'")
        return getattr(import_module(home_of[name]), name)

    return names, get, lambda: names
