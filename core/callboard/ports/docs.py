"""The port behind ``docs__lookup``: what the running application says of itself, so that it fits
the version that runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from callboard.content import Json

#: Names that an entry's details list at most.
MOST_LISTED = 60


@dataclass(frozen=True)
class DocEntry:
    """One thing that is documented. ``name`` is how code names it (``bpy.ops.mesh.bevel``),
    ``kind`` the application's word for what it is, ``text`` what it says of it, maybe nothing."""

    name: str
    kind: str
    text: str


class DocsPort(Protocol):
    """Capability ``docs``."""

    def entries(self) -> Iterable[DocEntry]:
        """Everything that is documented. Reading it takes long, so it is made while somebody
        goes through it; who stops early costs what was read."""

    def details(self, entry: DocEntry) -> Json:
        """What else is known of it, small: its type, default, range, choices, parameters."""


class KeptDocs(ABC):
    """Reads once, and keeps what was read to its end."""

    def __init__(self) -> None:
        self._kept: list[DocEntry] | None = None

    @abstractmethod
    def _read(self) -> Iterator[DocEntry]:
        """Everything, as it is found."""

    def entries(self) -> Iterator[DocEntry]:
        if self._kept is not None:
            yield from self._kept
            return
        read: list[DocEntry] = []
        for entry in self._read():
            read.append(entry)
            yield entry
        self._kept = read
