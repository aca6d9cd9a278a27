"""The ``file`` port: the contents of the open file or of a file on disk, and the files that it
refers to."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from callboard.content import Json


@dataclass(frozen=True)
class NamedFile:
    """A file that another file refers to. ``path`` is the path as written, and ``place`` is the
    absolute path. ``kind`` is library, sublayer, reference, payload, image, sound, font, cache,
    volume, movie or file. ``state`` is found, missing or packed. ``users`` are the names of the
    data that uses the file. ``named_in`` is the absolute path of the file that refers to it, or
    empty if that is the file that was asked about. ``objects`` are the objects of the open file,
    in any scene, that need the file, such as those whose material has the texture, and ``name`` is
    the host's own name for the data that stands for the file, as far as the host knows them.
    ``connected`` says whether a node with the image reaches an output, and ``unconnected_in`` names
    the materials and the like in which none does; None if no nodes name it, or the host doesn't
    know."""

    path: str
    place: str
    kind: str
    state: str
    absolute: bool
    users: tuple[str, ...] = ()
    named_in: str = ""
    objects: tuple[str, ...] = ()
    name: str = ""
    unreadable: str = ""
    connected: bool | None = None
    unconnected_in: tuple[str, ...] = ()


class FilePort(Protocol):
    """Capability ``file``. Changes nothing, and opens nothing in the artist's session. ``path`` is
    a file on disk, and None means the open file. The generators yield often, so that the caller can
    let the application run. The scene may change in the meantime."""

    def overview(self, path: str | None) -> Generator[None, None, Json]:
        """Return ``{file, version, scenes, counts, types, kinds, heaviest}`` and more in the host's
        own words. ``file`` is None for a scene that was never saved. ``counts`` has the number of
        data blocks by the host's kinds, and ``types`` the number of objects by type. ``kinds`` has
        counts under words that all hosts share: meshes, cameras, lights, rigs, animations,
        materials, assets, strips, libraries, drawings, node_setups, composited, tracked, sounds,
        scripts. ``heaviest`` lists the ten largest objects, as ``{name,
        faces}``. Raises HostError."""

    def references(self, path: str | None) -> Generator[None, None, list[NamedFile]]:
        """Return the files that the file refers to, and those that its component files refer to.
        Files that the call may not read aren't followed. Raises HostError."""

    def autosaves(self) -> list[str]:
        """Return the paths of the application's own autosaves of the open file."""
