"""Keeps the served tools and skills in step with the installed bundles.

A new version is in use as soon as it is installed. It is confirmed once its skill has loaded and
its server has listed its tools. Otherwise the previous version is restored. ``bundle_server``, not
this module, restarts a server that dies.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from callboard.bundles.files.bundle_host import HostResources
from callboard.bundles.files.call_platform import CallPlatform
from callboard.bundles.files.workspaces import Workspaces
from callboard.bundles.installed.install import Bundles, InstalledBundle, InstallError
from callboard.bundles.installed.install_folders import as_offered, places
from callboard.bundles.installed.skill_check import problem_of, skill_of, trouble_here
from callboard.bundles.running.bundle_server import BundleServer
from callboard.bundles.running.listed_resources import ListedResource
from callboard.bundles.running.listed_tools import prefix
from callboard.calls.call import Call
from callboard.calls.tools import Tool, ToolRegistry
from callboard.errors import SkillError
from callboard.skills.catalog import SkillCatalog, SkillScope
from callboard.skills.discovery import suits
from callboard.skills.model import Failure
from callboard.skills.prompts.registry import PromptRegistry
from callboard.workspace.roots import RootsBook

log = logging.getLogger(__name__)

Place = tuple[Bundles, SkillScope]


#: Stops serving the given URIs, and then serves the given resources. Returns the URIs that it is
#: now serving.
ServeResources = Callable[[Sequence[str], Sequence[ListedResource]], Sequence[str]]


@dataclass(frozen=True)
class ServedContents:
    """The served parts of a bundle's server: tools, prompts by name, resources by URI."""

    tools: Sequence[Tool] = ()
    prompts: Sequence[str] = ()
    resources: Sequence[str] = ()


class BundleSync:
    """Keeps the served bundles up to date. ``base`` contains the search paths for skills, except
    the bundles' paths. ``refresh`` may be called from any thread. Everything about servers runs on
    the loop."""

    def __init__(
        self,
        catalog: SkillCatalog,
        base: Sequence[tuple[Path, SkillScope]],
        dcc: str,
        tools: ToolRegistry,
        book: RootsBook,
        workspaces: Workspaces,
        loop: asyncio.AbstractEventLoop,
        prompts: PromptRegistry,
        serve_resources: ServeResources,
        why_not: Callable[[Path], str | None] = lambda folder: None,
    ) -> None:
        """``why_not`` returns why the bundle in that folder may not be used, or None."""
        self._why_not = why_not
        self._prompts = prompts
        self._serve_resources = serve_resources
        self._catalog = catalog
        self._base = list(base)
        self._dcc = dcc
        self._tools = tools
        self._book = book
        self.workspaces = workspaces
        self._loop = loop
        self._lock = threading.Lock()
        self._projects: tuple[str, ...] = ()
        #: The host capabilities that bundles got at the last search for bundles.
        self._provided: tuple[str, ...] = ()
        #: Reasons why bundles aren't used, by folder, and the folders of the bundles that are used.
        self._held: dict[Path, str] = {}
        self._usable: set[Path] = set()
        #: The same reasons, by the prefix of those bundles' tools.
        self._held_tools: dict[str, str] = {}
        self._seen: object = None
        self._installed: dict[Path, InstalledBundle] = {}
        self._skills: dict[str, InstalledBundle] = {}
        #: The reason why a bundle's skill isn't loaded, by its folder.
        self._problems: dict[Path, str] = {}
        self._servers: dict[Path, BundleServer] = {}
        self._served: dict[Path, ServedContents] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        #: The workspace that each server was last notified of, by the bundle's folder.
        self._reported: dict[Path, str] = {}
        self._closed = False
        forget_roots = book.watch(lambda: self._on_loop(self._tell_roots))
        forget_offer = workspaces.watch(lambda: self._on_loop(self._offer_again))
        self._forget = (forget_roots, forget_offer)

    # -- the disk -----------------------------------------------------------------------------

    def set_projects(self, projects: Sequence[str]) -> None:
        """Set the projects whose bundles are used too. Takes effect with the next refresh."""
        self._projects = tuple(projects)
        self._on_loop(self._tell_roots)

    def changed(self) -> bool:
        """Return whether a bundle has been installed or removed since the last refresh. This check
        is fast."""
        return self._stamp() != self._seen

    def refresh(self, *, load: bool = True) -> None:
        """Find the installed bundles and start using them. If ``load`` is true, load new skills
        too. At start-up, they are loaded along with all other skills instead."""
        with self._lock:
            self._seen = self._stamp()
            installed = self._find()
            before = self._usable
            self._installed = {bundle.folder: bundle for _, bundle, _ in installed}
            usable = [each for each in installed if each[1].folder not in self._held]
            self._usable = {bundle.folder for _, bundle, _ in usable}
            paths = [(b.folder, scope) for _, b, scope in usable if b.has_skill]
            self._catalog.use_paths([*paths, *self._base])
            self._catalog.refresh()
            self._skills = {
                known.skill.name: self._installed[known.skill.path]
                for known in self._catalog.known
                if known.skill.path in self._usable
            }
            self._problems = {f: p for f, p in self._problems.items() if f in self._usable}
            for place, bundle, _ in usable:
                self._take(place, bundle, load=load and bundle.folder not in before)
        self._on_loop(self._update_servers)

    def _find(self) -> list[tuple[Bundles, InstalledBundle, SkillScope]]:
        by_name: dict[str, tuple[Bundles, InstalledBundle, SkillScope]] = {}
        refused: dict[str, str] = {}
        for place, scope in places(self._projects):
            try:
                installed = place.installed()
            except OSError as error:
                log.warning("bundles can't be read: %s", error.strerror)
                continue
            for bundle in installed:
                why = self._why_not(bundle.folder)
                # A bundle that may not be used must not take the name of a bundle that may be used.
                if bundle.name not in by_name or (why is None and bundle.name in refused):
                    by_name[bundle.name] = (place, bundle, scope)
                    refused.pop(bundle.name, None)
                    if why is not None:
                        refused[bundle.name] = why
        self._provided = self.workspaces.provided
        self._held = {}
        for name, each in by_name.items():
            bundle, required = as_offered(each[1], self._provided)
            by_name[name] = (each[0], bundle, each[2])
            if name in refused:
                self._held[bundle.folder] = refused[name]
            elif required:
                self._held[bundle.folder] = (
                    f"it requires {', '.join(required)}, which this host doesn't offer now; "
                    "restore filesystem.read if it was withdrawn"
                )
        self._tell_held({bundle.name: bundle for _, bundle, _ in by_name.values()})
        return list(by_name.values())

    def _tell_held(self, bundles: Mapping[str, InstalledBundle]) -> None:
        before = {failure.skill for failure in self._catalog.held_back}
        held = {name: why for name, b in bundles.items() if (why := self._held.get(b.folder))}
        for name in held.keys() - before:
            log.warning("bundle '%s' isn't loaded, because %s", name, held[name])
        self._held_tools = {
            prefix(name): held[bundle.name]
            for bundle in bundles.values()
            if bundle.name in held
            for name in (bundle.name, *_skill_names(bundle))
        }
        self._catalog.held_back = tuple(
            Failure(name, ".", "held", f"this bundle isn't loaded, because {why}")
            for name, why in held.items()
        )

    def _take(self, place: Bundles, bundle: InstalledBundle, *, load: bool) -> None:
        """Load a bundle's skill. Revert a pending version whose skill can't be loaded, and confirm
        one that is only a skill."""
        skill = skill_of(bundle) if load or bundle.pending else None
        if skill is None or not suits(skill, self._dcc):
            return
        problem = problem_of(skill)
        if problem is None:
            try:
                self._catalog.load(skill.name)
            except SkillError as error:
                problem = error.message
        if not bundle.pending:
            return
        if problem is not None and bundle.previous is None:
            self._problems[bundle.folder] = problem
            log.warning("bundle '%s' isn't loaded, because %s", bundle.name, problem)
        elif problem is not None:
            self._revert(place, bundle, problem)
        elif bundle.manifest.server is None:
            self._confirm(place, bundle)

    def _confirm(self, place: Bundles, bundle: InstalledBundle) -> None:
        try:
            place.confirm(bundle.name, bundle.folder)
        except (InstallError, OSError) as error:
            log.info("bundle '%s' isn't confirmed: %s", bundle.name, error)

    def _revert(self, place: Bundles, bundle: InstalledBundle, problem: str) -> None:
        version = bundle.manifest.version
        try:
            back = place.revert(bundle.name, bundle.folder)
        except (InstallError, OSError) as error:
            log.info("bundle '%s' isn't reverted: %s", bundle.name, error)
            return
        self._seen = None  # The next refresh starts using that version.
        outcome = f"{back.manifest.version} is in use again" if back else "it was removed"
        log.warning("bundle '%s' %s: %s; %s", bundle.name, version, problem, outcome)

    def _stamp(self) -> object:
        stamps = []
        for place, _ in places(self._projects):
            try:
                stamps.append((place.folder, place.folder.stat().st_mtime_ns))
            except OSError:
                continue
        return stamps

    # -- queries ------------------------------------------------------------------------

    def of_skill(self, name: str | None) -> InstalledBundle | None:
        """Return the bundle that a served skill came with, or None."""
        return None if name is None else self._skills.get(name)

    def missing(self) -> dict[str, tuple[str, ...]]:
        """Return the preferred host capabilities that skills' bundles are missing, by skill."""
        return {name: bundle.missing for name, bundle in self._skills.items() if bundle.missing}

    def in_use(self) -> list[tuple[InstalledBundle, str | None]]:
        """Return the bundles, each with the reason why it isn't loaded, or None."""
        servers = self._servers
        return [
            (
                bundle,
                servers[folder].problem
                if folder in servers
                else self._held.get(folder) or self._problems.get(folder),
            )
            for folder, bundle in self._installed.items()
        ]

    def why_absent(self, tool: str) -> str | None:
        """Return why the tool with this wire name isn't served, if it belongs to a bundle that
        isn't loaded. Return None for other tools."""
        for start, why in self._held_tools.items():
            if tool.startswith(start):
                return f"isn't served, because its bundle is held back: {why}"
        return None

    def platform(self, call: Call) -> HostResources | None:
        """Return what this host offers a tool of an installed bundle, for
        :func:`callboard.extensions.host`, or None for other tools. Call it from any thread."""
        bundle = self.of_skill(call.tool.skill)
        if bundle is None or not self.workspaces.offered:
            return None
        return HostResources(CallPlatform(call, bundle.name, self._book, self.workspaces))

    # -- servers, on the loop -------------------------------------------------------------------

    def _update_servers(self) -> None:
        if self._closed:
            return
        wanted = {
            folder: bundle
            for folder, bundle in self._installed.items()
            if bundle.manifest.server is not None and folder in self._usable
        }
        for folder in [folder for folder in self._servers if folder not in wanted]:
            self._start(self._end(folder, self._servers.pop(folder)))
        for folder, bundle in wanted.items():
            if folder not in self._servers:
                server = BundleServer(
                    bundle, self._book, self.workspaces, partial(self._serve, folder)
                )
                self._servers[folder] = server
                self._reported[folder] = server.workspace
                if bundle.pending:
                    self._start(self._settle(server))

    def _offer_again(self) -> None:
        """React to a change in the offered host capabilities: start or end the bundles that require
        them, and restart the servers that request files, because a server learns about capabilities
        only when it starts."""
        if self._closed or self.workspaces.provided == self._provided:
            return
        self._provided = self.workspaces.provided
        for folder in [f for f, server in self._servers.items() if server.wants_files]:
            self._start(self._end(folder, self._servers.pop(folder)))
        self._loop.run_in_executor(None, self.refresh)

    def _tell_roots(self) -> None:
        """Notify servers when the host's own roots have changed."""
        for folder, server in self._servers.items():
            workspace = server.workspace
            if workspace != self._reported.get(folder):
                self._reported[folder] = workspace
                self._start(_tell_roots(server))

    def _serve(self, folder: Path) -> None:
        """Serve what a bundle's server lists, except under names that are taken."""
        server = self._servers.get(folder)
        before = self._served.get(folder) or ServedContents()
        tools, prompts, resources = (
            (server.tools, server.prompts, server.resources) if server else ([], [], [])
        )
        self._served[folder] = ServedContents(
            self._serve_tools(folder, before.tools, tools),
            self._prompts.replace_functions(before.prompts, prompts),
            self._serve_resources(before.resources, resources),
        )

    def _serve_tools(
        self, folder: Path, before: Sequence[Tool], listed: Sequence[Tool]
    ) -> list[Tool]:
        ours = {id(tool) for tool in before}
        now: list[Tool] = []
        for tool in listed:
            if tool.name in self._tools and id(self._tools.get(tool.name)) not in ours:
                log.warning("tool '%s' of a bundle isn't served: the name is taken", tool.name)
            else:
                now.append(tool)
        gone = [
            tool.name
            for tool in before
            if tool.name in self._tools and self._tools.get(tool.name) is tool
        ]
        self._catalog.also_find(str(folder), now)
        self._tools.replace(gone, now)
        return now

    async def _end(self, folder: Path, server: BundleServer) -> None:
        self._serve(folder)
        self._served.pop(folder, None)
        await server.close()

    async def _settle(self, server: BundleServer) -> None:
        """Confirm a pending version once its server has started, or revert it."""
        problem = await asyncio.shield(server.opened)
        if self._closed:
            return
        bundle = server.bundle
        place = Bundles(bundle.folder.parent.parent.parent)
        if problem is None:
            await asyncio.to_thread(self._confirm, place, bundle)
        elif bundle.previous is None or (await asyncio.to_thread(trouble_here, bundle)) is not None:
            # A fault of this machine or host isn't a reason to revert the version for other hosts.
            log.warning("bundle '%s' isn't loaded, because its server %s", bundle.name, problem)
        else:
            await asyncio.to_thread(self._revert, place, bundle, f"its server {problem}")
            await asyncio.to_thread(self.refresh)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _on_loop(self, function: Callable[[], None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function)

    async def close(self) -> None:
        """Stop every server. Runs on the loop."""
        self._closed = True
        for forget in self._forget:
            forget()
        ends = [self._end(folder, self._servers.pop(folder)) for folder in list(self._servers)]
        await asyncio.gather(*ends, *self._tasks)


def _skill_names(bundle: InstalledBundle) -> list[str]:
    skill = skill_of(bundle)
    return [] if skill is None else [skill.name]


async def _tell_roots(server: BundleServer) -> None:
    # Calls may be running, so a server that keeps the old roots isn't ended here.
    await server.roots_changed()
