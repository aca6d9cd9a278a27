"""The ``filesystem.read`` and ``filesystem.write`` ports: opening and saving the scene's own
files."""

from __future__ import annotations

from typing import Protocol

from callboard.content import Json


class SceneFiles(Protocol):
    """Opens and saves scenes. Opening needs ``filesystem.read``, and saving needs
    ``filesystem.write``; a host registers the same object under both. Paths are absolute and
    already checked."""

    #: Suffixes of the scene files that ``save`` writes, the usual one first: ``(".blend",)``.
    suffixes: tuple[str, ...]

    def open(self, path: str) -> Json:
        """Replace the scene. Return ``{path, object_count}``."""

    def save(self, path: str | None) -> Json:
        """Save, under ``path`` if given. Return ``{path, bytes}``."""
