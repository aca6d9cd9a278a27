"""The ``attributes`` port: any attribute of any object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.nearest_names import names_hint, nearest_names

#: Maximum number of elements of a long value that ``get`` returns.
MOST_ELEMENTS = 1000


class AttributeNotFound(HostError, LookupError):
    """Raised when the object has no attribute with that name. ``names`` are the attributes that the
    object has."""

    def __init__(self, object: str, attribute: str, names: Sequence[str]) -> None:
        hint = names_hint(attribute, nearest_names(attribute, names))
        super().__init__(
            f"'{object}' has no attribute '{attribute}'{hint}. List them with attributes__list."
        )


class AttributesPort(Protocol):
    """Capability ``attributes``: the attributes of an object under the host's own names. Values are
    JSON: true or false, a number, a string, or a list of these.

    File paths can't be set, and neither can anything for which there is a better tool.
    """

    def names(self, name: str) -> list[str]:
        """Return the attributes of the object that can be read."""

    def get(self, name: str, attribute: str) -> Json:
        """Return ``{path, attribute, type, value, writable}``, with ``type`` in the host's own
        words. A long list is cut after its first thousand elements, and ``count`` is its full
        length. ``refers_to`` is the kind of data that a reference names; its value is that name, or
        None. ``doubt`` is as in ``SceneReader``. Raises HostError when there is no such
        attribute."""

    def set(self, name: str, attribute: str, value: object) -> str:
        """Set the attribute, or add it to the object if there is none with that name. None clears a
        reference, and is passed for nothing else. Return the object's path. Raises HostError when
        the value doesn't fit."""
