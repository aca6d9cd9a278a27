"""The ports behind what holds a scene together: groups, empties, visibility, and any attribute of
any object. The conventions are the host contract's: main thread, scene units, degrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.nearest_names import names_hint, nearest_names
from callboard.ports.capability_names import ATTRIBUTES as ATTRIBUTES
from callboard.ports.capability_names import STRUCTURE as STRUCTURE

#: How many elements of a long value are told.
MOST_ELEMENTS = 1000
#: Frames with keys that an object's details tell.
MOST_KEYS = 100


class GroupNotFound(HostError, LookupError):
    """No group of that name. ``nearest`` holds the closest names, best first."""

    def __init__(self, name: str, nearest: Sequence[str]) -> None:
        hint = names_hint(name, nearest) or "; the scene has none"
        super().__init__(f"no group named '{name}'{hint}. List them with structure__list_groups.")
        self.name = name
        self.nearest = list(nearest)


class AttributeNotFound(HostError, LookupError):
    """The object has no attribute of that name; ``names`` are those that it has."""

    def __init__(self, object: str, attribute: str, names: Sequence[str]) -> None:
        hint = names_hint(attribute, nearest_names(attribute, names))
        super().__init__(
            f"'{object}' has no attribute '{attribute}'{hint}. List them with attributes__list."
        )


class StructurePort(Protocol):
    """Capability ``structure``. A group gathers objects and moves none of them; an object may be
    in several. Groups are named like objects: by the bare name where it is unique, or the path.
    Errors raise before anything changes where that can be known."""

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


class AttributesPort(Protocol):
    """Capability ``attributes``: what the host itself keeps of an object, under the host's own
    names. Values are JSON: a flag, a number, a text, or a list of them.

    Paths of files can't be set, nor what has a tool of its own that does it better.
    """

    def names(self, name: str) -> list[str]:
        """The attributes of the object that can be read."""

    def get(self, name: str, attribute: str) -> Json:
        """``{path, attribute, type, value, writable}``, ``type`` in the host's word; of a long list
        the first thousand elements, and ``count``, how many there are. ``doubt`` as with objects.
        Raises HostError where there is no such attribute."""

    def set(self, name: str, attribute: str, value: object) -> str:
        """Sets it; what the host has no attribute of that name for becomes one of the object's own.
        Returns the object's path. Raises HostError where the value doesn't fit."""
