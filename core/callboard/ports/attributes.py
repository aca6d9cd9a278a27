"""The port ``attributes``: any attribute of any object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.nearest_names import names_hint, nearest_names

#: Elements of a long value that ``get`` answers at most.
MOST_ELEMENTS = 1000


class AttributeNotFound(HostError, LookupError):
    """The object has no attribute of that name; ``names`` are those that it has."""

    def __init__(self, object: str, attribute: str, names: Sequence[str]) -> None:
        hint = names_hint(attribute, nearest_names(attribute, names))
        super().__init__(
            f"'{object}' has no attribute '{attribute}'{hint}. List them with attributes__list."
        )


class AttributesPort(Protocol):
    """Capability ``attributes``: the attributes of an object under the host's own names. Values are
    JSON: a flag, a number, a text, or a list of them.

    Paths of files can't be set, nor what has a tool of its own that does it better.
    """

    def names(self, name: str) -> list[str]:
        """The attributes of the object that can be read."""

    def get(self, name: str, attribute: str) -> Json:
        """``{path, attribute, type, value, writable}``, ``type`` in the host's word. Of a long list
        the first thousand elements are there, and ``count`` is its length. ``doubt`` as with
        objects. Raises HostError where there is no such attribute."""

    def set(self, name: str, attribute: str, value: object) -> str:
        """Sets it. Where the host has no attribute of that name, the object gets one of its own.
        Returns the object's path. Raises HostError where the value doesn't fit."""
