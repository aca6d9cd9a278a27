"""The port ``file``: the contents of the open file or of one on disk, and the files it names."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from callboard.content import Json

#: Maximum objects that an overview names as the heaviest.
MOST_HEAVY = 10


@dataclass(frozen=True)
class NamedFile:
    """A file that a file names. ``path`` is as written, ``place`` absolute. ``kind`` is library,
    sublayer, reference, payload, image, sound, font, cache, volume, movie or file. ``state`` is
    found, missing or packed. ``users`` are the names of what uses it. ``named_in`` is the place of
    the file that names it, or empty for the file that was asked about."""

    path: str
    place: str
    kind: str
    state: str
    absolute: bool
    users: tuple[str, ...] = ()
    named_in: str = ""


class FilePort(Protocol):
    """Capability ``file``. Changes nothing, and opens nothing in the artist's session. ``path`` is
    a file on disk; None means the open file. The generators yield often, so that the caller can let
    the application run. The scene may change meanwhile."""

    def overview(self, path: str | None) -> Generator[None, None, Json]:
        """Return ``{file, version, scenes, counts, types, kinds, heaviest}`` and more in the host's
        own words. ``file`` is None for a scene that was never saved. ``counts`` are data by the
        host's kinds and ``types`` objects by type. ``kinds`` are counts under the words that all
        hosts share: meshes, cameras, lights, rigs, animations, materials, assets, strips,
        libraries. ``heaviest`` are ``{name, faces}``. Raises HostError."""

    def references(self, path: str | None) -> Generator[None, None, list[NamedFile]]:
        """Return the files that it names, and those named by files it is composed of. Files that
        the call may not read aren't followed. Raises HostError."""

    def autosaves(self) -> list[str]:
        """Return the places of the application's own rescue copies of the open file."""
