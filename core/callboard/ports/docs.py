"""The port behind ``docs__lookup``: the running application's documentation of itself, so that it
fits that version."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from callboard.content import Json

#: Maximum names in an entry's details.
MOST_LISTED = 60


@dataclass(frozen=True)
class DocEntry:
    """One documented thing. ``name`` is its name in code (``bpy.ops.mesh.bevel``), ``kind`` the
    application's word for what it is, ``text`` its documentation, which may be empty."""

    name: str
    kind: str
    text: str


class DocsPort(Protocol):
    """Capability ``docs``."""

    def entries(self) -> Iterable[DocEntry]:
        """Return everything that is documented. Reading takes long, so entries are made while the
        caller iterates; stopping early costs only what was read."""

    def details(self, entry: DocEntry) -> Json:
        """Return further short facts: type, default, range, choices, parameters."""


class KeptDocs(ABC):
    """Reads the entries, and keeps them once all have been read."""

    def __init__(self) -> None:
        self._kept: list[DocEntry] | None = None

    @abstractmethod
    def _read(self) -> Iterator[DocEntry]:
        """Yield every entry as it is found."""

    def entries(self) -> Iterator[DocEntry]:
        if self._kept is not None:
            yield from self._kept
            return
        read: list[DocEntry] = []
        for entry in self._read():
            read.append(entry)
            yield entry
        self._kept = read
