"""Saves the artist's folders with the project, in the same way as the large panel."""

from __future__ import annotations

from collections.abc import Sequence

from callboard.errors import CallboardError
from callboard.panel.controls import Controls
from callboard.panel.project_settings import (
    ProjectSettings,
    Root,
    RootsPolicy,
    load,
    project_of,
    save,
)
from callboard.panel.status import Snapshot


class KeptRoots:
    """The folders of the open project. The project is the folder of the scene's file. All scenes
    that were never saved share one project. Use it on the main thread."""

    def __init__(self, controls: Controls) -> None:
        self._controls = controls
        self._project: str | None = None
        self._opened = False

    def opened(self) -> None:
        """Note that a different file was opened. The previous file's folders don't apply to it."""
        self._opened = True

    def follow(self, shown: Snapshot) -> None:
        """Use the saved folders if the project has changed."""
        if not shown.serving:
            return
        project = _project_of(shown)
        if project == self._project:
            return
        opened, self._opened = self._opened, False
        self._project = project
        if (settings := _kept(project)) is not None:
            self._use(settings)
        elif opened:
            self._use(ProjectSettings())
        elif roots := own_roots(shown):
            # The same scene was saved in another folder, so it keeps its roots.
            self.keep(roots, shown)

    def keep(self, roots: Sequence[Root], shown: Snapshot) -> str | None:
        """Set the folders and save them. Return the problem, or None."""
        if self._project is None:
            # The saved folders haven't been read yet, so add the new ones to them.
            self._project = _project_of(shown)
            settings = _kept(self._project)
            before = () if settings is None else settings.roots
            new = {root.path for root in roots}
            roots = [*(root for root in before if root.path not in new), *roots]
        self._controls.set_roots(roots)
        policy: RootsPolicy = "strict" if shown.roots_policy == "strict" else "advisory"
        try:
            save(self._project, ProjectSettings(tuple(roots), policy))
        except (OSError, CallboardError) as error:
            return f"Not saved for this project: {error}"
        return None

    def _use(self, settings: ProjectSettings) -> None:
        self._controls.set_roots(settings.roots)
        self._controls.set_roots_policy(settings.policy)


def _kept(project: str) -> ProjectSettings | None:
    """Return the project's saved settings, or None if there are none or they can't be read."""
    settings = load(project)
    return None if settings is None or settings.problem else settings


def _project_of(shown: Snapshot) -> str:
    folders = [root.path for root in shown.roots if root.source == "project" and root.path]
    return project_of(shown.host_kind, folders)


def own_roots(shown: Snapshot) -> list[Root]:
    """Return the server's current list of the artist's own roots."""
    return [
        Root(one.uri, one.name, one.path, one.read_only, "artist")
        for one in shown.roots
        if one.source == "artist"
    ]
