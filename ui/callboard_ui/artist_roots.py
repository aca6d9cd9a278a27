"""The artist's own roots. Every change is sent to the server and saved in the project's
settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from qtpy.QtCore import QCoreApplication

from callboard.errors import CallboardError
from callboard.panel.project_settings import (
    ProjectSettings,
    Root,
    RootsPolicy,
    load,
    parse_root,
    project_of,
    save,
    settings_file,
)
from callboard.panel.status import RootStatus, Snapshot
from callboard_ui.link import Link

#: Seconds within which the server's snapshots show a change.
CATCH_UP = 2.0


class ArtistRoots:
    """The artist's own roots. ``report`` receives a message about a problem, or an empty string
    once there is none. Use it on Qt's thread."""

    def __init__(self, link: Link, report: Callable[[str], None]) -> None:
        self._link = link
        self._report = report
        self._project: str | None = None
        self._decided = False
        self._given = ProjectSettings()
        self._changing_until = 0.0
        self.roots: tuple[Root, ...] = ()
        self.policy: RootsPolicy = "advisory"

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Use the server's roots or, when a different project has been opened, that project's saved
        roots."""
        if not snapshot.serving:
            return
        folders = [r.path for r in snapshot.roots if r.source == "project" and r.path]
        project = project_of(snapshot.host_kind, folders)
        self._take(snapshot)
        if project == self._project:
            return
        if self._project is None:
            # The roots given at the start apply to every project without saved settings.
            self._given = ProjectSettings(self.roots, self.policy)
        self._project, self._decided = project, False
        if not self._given.roots:
            self._link.background.run(lambda: load(project), self._loaded)

    def _take(self, snapshot: Snapshot) -> None:
        roots = tuple(map(_root, (r for r in snapshot.roots if r.source == "artist")))
        policy: RootsPolicy = "strict" if snapshot.roots_policy == "strict" else "advisory"
        # A snapshot that was on its way when the artist made a change is older than the change.
        if (roots, policy) == (self.roots, self.policy) or monotonic() > self._changing_until:
            self._changing_until = 0.0
            self.roots, self.policy = roots, policy

    def add(self, folders: Sequence[str]) -> None:
        """Add folders after the existing ones."""
        roots = list(self.roots)
        for folder in folders:
            try:
                root = parse_root(folder)
            except CallboardError as wrong:
                self._report(wrong.message)
                continue
            if all(root.path != there.path for there in roots):
                roots.append(root)
        self._set(roots)

    def remove(self, number: int) -> None:
        self._set([*self.roots[:number], *self.roots[number + 1 :]])

    def move(self, number: int, by: int) -> None:
        """Move one root up or down. The first root is the workspace."""
        to = number + by
        if 0 <= number < len(self.roots) and 0 <= to < len(self.roots):
            roots = list(self.roots)
            roots.insert(to, roots.pop(number))
            self._set(roots)

    def set_read_only(self, number: int, read_only: bool) -> None:
        roots = list(self.roots)
        roots[number] = roots[number]._replace(read_only=read_only)
        self._set(roots)

    def set_policy(self, policy: RootsPolicy) -> None:
        self.policy = policy
        self._changing_until = monotonic() + CATCH_UP
        self._link.controls.set_roots_policy(policy)
        self._save()

    def _set(self, roots: Sequence[Root]) -> None:
        self.roots = tuple(roots)
        self._changing_until = monotonic() + CATCH_UP
        self._link.controls.set_roots(self.roots)
        self._save()

    def _save(self) -> None:
        self._decided = True
        project = self._project
        if project is None:
            return
        settings, file = ProjectSettings(self.roots, self.policy), settings_file(project)

        def saved(value: None, error: Exception | None) -> None:
            notice = QCoreApplication.translate("ArtistRoots", "Not saved for this project: {0}")
            self._report("" if error is None else notice.format(error))

        self._link.background.run(lambda: save(project, settings, file), saved)

    def _loaded(self, settings: ProjectSettings | None, error: Exception | None) -> None:
        if self._decided:
            return  # The artist has changed the roots in the meantime.
        if settings is not None and settings.problem:
            self._report(settings.problem)
            return
        wanted = self._given if settings is None else settings
        self._changing_until = monotonic() + CATCH_UP
        if wanted.roots != self.roots:
            self.roots = wanted.roots
            self._link.controls.set_roots(wanted.roots)
        if wanted.policy != self.policy:
            self.policy = wanted.policy
            self._link.controls.set_roots_policy(wanted.policy)


def _root(status: RootStatus) -> Root:
    return Root(status.uri, status.name, status.path, status.read_only, "artist")
