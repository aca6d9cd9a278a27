"""The folders in which a call's paths were found, checked again when something is written there."""

from __future__ import annotations

import os
from pathlib import Path

from callboard.errors import HostError, WorkspaceResolveError
from callboard.ground.held_folder import make_below
from callboard.workspace.containment import WorkspaceRoots
from callboard.workspace.path_text import shown


class FoundPaths:
    """The folders of a call that must be inside its roots. Call it from any thread."""

    def __init__(self, roots: WorkspaceRoots) -> None:
        self._roots = roots
        self._inside: set[str] = set()
        #: The paths given to the tool. If one of them is a folder, everything below it belongs to
        #: the call too.
        self._given: set[str] = set()

    def note(self, path: str) -> None:
        """Note a path that a tool is given and that is inside a root."""
        self._inside.add(str(Path(path).parent))
        self._given.add(str(Path(path)))

    def _is_the_calls(self, folder: str) -> bool:
        if folder in self._inside:
            return True
        return any(str(one) in self._given for one in (Path(folder), *Path(folder).parents))

    def __call__(self, folder: str, real: str) -> None:
        """Raise WorkspaceResolveError if the folder is one of the call's, and its real path is no
        longer allowed. Other folders that a call writes to aren't checked."""
        if not self._is_the_calls(folder):
            return
        root = self._roots.above(real)
        if root is None:
            raise WorkspaceResolveError(
                f"{shown(folder)} has been moved out of the workspace; nothing was written"
            )
        if root.read_only:
            raise WorkspaceResolveError(
                f"{shown(folder)} has been moved into the read-only root {shown(root.name)}; "
                f"nothing was written"
            )

    def make(self, folder: str) -> None:
        """Create the folder and its parents, if it is one of the call's folders and inside a root.
        Otherwise, create nothing. A root itself is never created. Raises HostError when the disk
        refuses, or when a folder that isn't the call's is outside the roots."""
        if not self._is_the_calls(folder):
            self._require_inside(folder)
            return
        real = os.path.realpath(folder)
        root = self._roots.above(real)
        if root is None or root.path is None or root.read_only:
            return
        base = os.path.realpath(root.path)
        if Path(base).is_dir():
            make_below(base, Path(os.path.relpath(real, base)).parts)

    def _require_inside(self, folder: str) -> None:
        paths = [shown(root.path) for root in self._roots.roots if root.path is not None]
        if paths and not self._roots.contains(folder):
            raise HostError(
                f"{shown(folder)} is outside of the roots, and folders are made only below one: "
                f"{', '.join(paths)}. Write to workspace://<path>, which is below the first, or "
                "ask the artist to add a root"
            )
