"""The names of a public face, each loaded when it is asked for: a host pays for what it uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(face: str, homes: Mapping[str, str]) -> tuple[list[str], Callable[[str], Any]]:
    """Make ``__all__`` and ``__getattr__`` of a module. ``homes`` names modules, with what the face
    shows of each, apart by spaces."""
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module '{face}' has no attribute '{name}'")
        return getattr(import_module(home_of[name]), name)

    return sorted(home_of), get
