"""The port ``structure``: groups, empties, visibility, and an empty scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from callboard.errors import HostError
from callboard.ground.nearest_names import names_hint


class GroupNotFound(HostError, LookupError):
    """No group of that name. ``nearest`` holds the closest names, best first."""

    def __init__(self, name: str, nearest: Sequence[str]) -> None:
        hint = names_hint(name, nearest) or "; the scene has none"
        super().__init__(f"no group named '{name}'{hint}. List them with structure__list_groups.")
        self.name = name
        self.nearest = list(nearest)


class StructurePort(Protocol):
    """Capability ``structure``. A group gathers objects and moves none of them; an object may be
    in several. Groups are named like objects: by the bare name where it is unique, or the path."""

    def new(self) -> None:
        """Replaces the scene by an empty one that has no file."""

    def create_empty(self, name: str | None) -> str:
        """An object without a shape, at the origin; returns its path."""

    def set_visible(self, name: str, visible: bool) -> str:
        """Shows or hides the object, in views and in pictures; returns its path."""

    def groups(self) -> Mapping[str, str]:
        """Every group's path, with its bare name, in scene order."""

    def members(self, group: str) -> list[str]:
        """The paths of its objects. Raises GroupNotFound or AmbiguousName."""

    def create_group(self, name: str | None) -> str:
        """An empty group; a taken name gets the host's own suffix. Returns its path."""

    def add(self, group: str, objects: Sequence[str]) -> str:
        """Adds objects; those that are in it stay. Returns the group's path."""

    def remove(self, group: str, objects: Sequence[str]) -> str:
        """Takes objects out of it; they stay in the scene. Returns the group's path."""
