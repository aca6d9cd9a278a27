"""The port that ``docs__lookup`` uses: the running application's own documentation, which matches
its version."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from callboard.content import Json

#: Maximum number of names in an entry's details.
MOST_LISTED = 60


@dataclass(frozen=True)
class DocEntry:
    """One documented item. ``name`` is its name in code (``bpy.ops.mesh.bevel``). ``kind`` is the
    application's word for this kind of item. ``text`` is its documentation, which may be empty."""

    name: str
    kind: str
    text: str


class DocsPort(Protocol):
    """Capability ``docs``."""

    def entries(self) -> Iterable[DocEntry]:
        """Return everything that is documented. Reading is slow, so entries are made while the
        caller iterates. A caller that stops early waits only for the entries that were read."""

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
