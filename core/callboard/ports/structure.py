"""The ``structure`` port: groups, empties, visibility, and an empty scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from callboard.errors import HostError
from callboard.ground.nearest_names import names_hint


class GroupNotFound(HostError, LookupError):
    """Raised when no group has that name. ``nearest`` holds the closest names, best first."""

    def __init__(self, name: str, nearest: Sequence[str]) -> None:
        hint = names_hint(name, nearest) or "; the scene has none"
        super().__init__(f"no group named '{name}'{hint}. List them with structure__list_groups.")
        self.name = name
        self.nearest = list(nearest)


class StructurePort(Protocol):
    """Capability ``structure``. A group lists objects without moving them; an object may be in
    several groups. Groups are named like objects: by the bare name if it is unique, or by the path.
    A port may also have ``delete_group(group)`` for an empty group; ``fixed(name)``, which returns
    the reason why no method here can show or hide the object, or None; ``switches(name)``, which
    returns what ``set_visible`` may change, to be compared; and ``top()``, ``{name, objects}`` of
    the group that the scene itself is."""

    def new(self) -> None:
        """Replace the scene with an empty one that has no file."""

    def create_empty(self, name: str | None) -> str:
        """Make an object without a shape at the origin; return its path."""

    def set_visible(self, name: str, visible: bool) -> str:
        """Show or hide the object, in views and in pictures; return its path."""

    def groups(self) -> Mapping[str, str]:
        """Return the bare names of all groups, by path, in scene order."""

    def members(self, group: str) -> list[str]:
        """Return the paths of the group's objects. Raises GroupNotFound or AmbiguousName."""

    def create_group(self, name: str | None) -> str:
        """Make an empty group; return its path. A taken name gets the host's own suffix."""

    def add(self, group: str, objects: Sequence[str]) -> str:
        """Add objects; existing members stay. Return the group's path."""

    def remove(self, group: str, objects: Sequence[str]) -> str:
        """Remove objects from the group; they stay in the scene. Return the group's path."""
