"""The bundles of one host. A host without bundles doesn't import the code for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from callboard.ground.folders import data_folder, site_folder
from callboard.ground.machine_policy import PolicyError
from callboard.ground.regular_file import is_folder

if TYPE_CHECKING:
    from callboard.bundles.files.bundle_host import HostResources
    from callboard.bundles.files.workspaces import Workspaces
    from callboard.bundles.installed.install import InstalledBundle
    from callboard.bundles.running.bundle_sync import BundleSync, ServeResources
    from callboard.calls.call import Call
    from callboard.calls.capabilities import Capabilities
    from callboard.calls.tools import ToolRegistry
    from callboard.skills.catalog import SkillCatalog, SkillScope
    from callboard.skills.prompts.registry import PromptRegistry
    from callboard.workspace.roots import RootsBook


class HostBundles:
    """The bundles of one host. ``keeper`` is set once there is a folder for bundles. Use it on
    the server's loop, or before the loop runs."""

    def __init__(
        self,
        kind: str,
        catalog: SkillCatalog,
        base: Sequence[tuple[Path, SkillScope]],
        tools: ToolRegistry,
        roots: RootsBook,
        capabilities: Capabilities,
        loop: asyncio.AbstractEventLoop,
        prompts: PromptRegistry,
        serve_resources: ServeResources,
    ) -> None:
        """``kind`` is the host's kind. ``base`` contains the search paths for skills, except the
        bundles' paths. ``serve_resources`` receives the resources that a bundle's server lists."""
        self.keeper: BundleSync | None = None
        self._roots = roots
        self._loop = loop
        self._capabilities = capabilities
        self._lock = threading.Lock()
        self._workspaces: Workspaces | None = None
        #: Returns why the bundle in that folder may not be used, or None if it may.
        self.why_not: Callable[[Path], str | None] = lambda folder: None

        def make() -> BundleSync:
            from callboard.bundles.running.bundle_sync import BundleSync

            return BundleSync(
                *(catalog, base, kind, tools, roots),
                *(self.workspaces(), loop, prompts, serve_resources),
                lambda folder: self.why_not(folder),
            )

        self._make: Callable[[], BundleSync] = make

    def workspaces(self) -> Workspaces:
        """Return the files that bundles may read. Call it from any thread."""
        from callboard.bundles.files.workspaces import Workspaces

        with self._lock:
            if self._workspaces is None:
                self._workspaces = Workspaces(data_folder() / "uploads", self._capabilities)
            return self._workspaces

    def provided(self) -> tuple[str, ...]:
        """Return the host capabilities that bundles get now. Call it from any thread."""
        return self.workspaces().provided

    def start(self) -> None:
        """Start using the installed bundles. Their skills are loaded along with all others."""
        keeper = self._find_keeper()
        if keeper is not None:
            keeper.refresh(load=False)

    def refresh(self) -> None:
        """Find, on another thread, the bundles that have been installed or removed since the last
        search."""
        try:
            keeper = self._find_keeper()
            changed = keeper is not None and keeper.changed()
        except PolicyError:  # The port is closed then, and no folder may be used.
            return
        if keeper is not None and changed:
            self._loop.run_in_executor(None, keeper.refresh)

    def look_again(self) -> None:
        """Find, on another thread, which installed bundles may be used now."""
        if self.keeper is not None:
            self._loop.run_in_executor(None, self.keeper.refresh)

    def project_changed(self) -> None:
        """Note that the host has opened a different project, which may have its own bundles."""
        if self.keeper is not None:
            self.keeper.set_projects(self._projects())
            self.refresh()

    def platform(self, call: Call) -> HostResources | None:
        """Return what this host offers a bundle's tool, or None for other tools. Call it from any
        thread."""
        return None if self.keeper is None else self.keeper.platform(call)

    def why_absent(self, tool: str) -> str | None:
        """Return why a tool of an installed bundle isn't served, or None for other tools."""
        return None if self.keeper is None else self.keeper.why_absent(tool)

    def missing(self) -> dict[str, tuple[str, ...]]:
        """Return the preferred host capabilities that skills' bundles are missing, by skill."""
        return {} if self.keeper is None else self.keeper.missing()

    def in_use(self) -> list[tuple[InstalledBundle, str | None]]:
        """Return the bundles, each with the reason why it isn't loaded, or None."""
        return [] if self.keeper is None else self.keeper.in_use()

    async def close(self) -> None:
        """Stop every server."""
        if self.keeper is not None:
            await self.keeper.close()

    def _find_keeper(self) -> BundleSync | None:
        if self.keeper is None and any(map(is_folder, _folders())):
            self.keeper = self._make()
            self.keeper.set_projects(self._projects())
        return self.keeper

    def _projects(self) -> list[str]:
        """Return the folders that may have bundles of their own: the artist's roots and the
        project."""
        roots = [*self._roots.artist, *self._roots.project]
        return [root.path for root in roots if root.path is not None]


def _folders() -> list[Path]:
    """Return the folders for bundles. If none of them exists, the code for bundles isn't even
    imported."""
    return [home / "bundles" for home in (data_folder(), site_folder()) if home is not None]
