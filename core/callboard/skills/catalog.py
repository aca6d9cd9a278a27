"""The skills that exist, and those that are loaded.

Loading a skill makes its tools and prompts part of the server, but imports none of its code. The
server watches the disk for changes. Methods may be called from any thread. Listeners run under the
catalog's lock, so that a list requested after a change includes it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from callboard.changes import Changes
from callboard.errors import SkillError
from callboard.ground.nearest_names import close_matches
from callboard.skills.dependencies import dependency_failures, dependents, load_order
from callboard.skills.discovery import BUNDLED, scan, search_paths, site_skills
from callboard.skills.discovery_cache import DiscoveryCache
from callboard.skills.model import SKILL_FILE, Failure, SkillMetadata
from callboard.skills.reload_check import SeenSkill, seen_now

if TYPE_CHECKING:
    from callboard.calls.tools import Tool
    from callboard.skills.search import Hit, Kind, SearchIndex

log = logging.getLogger(__name__)

SkillScope = Literal["bundled", "user", "project", "site"]


class CatalogChange(NamedTuple):
    """A change in the loaded skills. ``unloaded`` has names. ``loaded`` has skills, in the order of
    their dependencies. A reloaded skill is in both."""

    loaded: tuple[SkillMetadata, ...] = ()
    unloaded: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.loaded or self.unloaded)


class KnownSkill(NamedTuple):
    skill: SkillMetadata
    scope: SkillScope
    loaded: bool


def scoped_paths(
    dcc: str | None = None,
    extra: Iterable[str | Path] = (),
    project: Path | None = None,
    shipped: Iterable[str | Path] = (),
    first: Iterable[str | Path] = (),
) -> list[tuple[Path, SkillScope]]:
    """Return search paths with their scope: a project's own skills first, bundled skills last. The
    folders in ``first`` precede all others, because a studio's policy may forbid replacing the
    site's skills. Among the bundled skills, those for one host come before those for every host."""
    theirs = [Path(path) for path in shipped]
    scoped: list[tuple[Path, SkillScope]] = [] if project is None else [(project, "project")]
    fixed = set(map(Path, first))
    for path in search_paths(dcc, extra, first=first):
        if path == BUNDLED:
            scoped.extend((own, "bundled") for own in theirs)
        scope: SkillScope = "bundled" if path == BUNDLED else "user"
        scoped.append((path, "site" if path in site_skills() or path in fixed else scope))
    return scoped


class SkillCatalog:
    """The known and the loaded skills. ``paths`` are search paths, the most important first.
    ``cache_file`` makes the next start faster and may be deleted at any time. ``came_with`` returns
    a description of the bundle that a skill's folder came with, or None."""

    def __init__(
        self,
        paths: Sequence[tuple[Path, SkillScope]],
        dcc: str | None = None,
        cache_file: Path | None = None,
        came_with: Callable[[Path], dict[str, Any] | None] = lambda folder: None,
    ) -> None:
        self.came_with = came_with
        self.paths = tuple(path for path, _ in paths)
        self._scopes = dict(reversed(paths))
        #: Paths that a person or a setting names, so they should exist.
        self._named = tuple(path for path, scope in paths if scope == "user")
        self._dcc = dcc
        self._lock = threading.RLock()
        self._cache = DiscoveryCache(cache_file)
        self._known: dict[str, SkillMetadata] = {}
        self._scope_of: dict[str, SkillScope] = {}
        self._loaded: dict[str, SeenSkill] = {}
        self._failures: tuple[Failure, ...] = ()
        #: Returns why a skill that doesn't ship may not be used, or None if it may.
        self.why_not: Callable[[Path], str | None] = lambda folder: None
        #: Returns the host capabilities that bundles currently get.
        self.host_capabilities: Callable[[], Sequence[str]] = tuple
        #: A failure for each bundle that the host currently can't serve.
        self.held_back: tuple[Failure, ...] = ()
        #: The failures concerning scripts, as of the last check.
        self._broken: list[Failure] = []
        #: Number of checks that have begun, and the number of the latest check that has reported.
        self._looks = 0
        self._reported_by = 0
        self._elsewhere: list[SkillMetadata] = []
        #: The failure that keeps a skill's newest files from being used, by skill.
        self._worse: dict[str, Failure] = {}
        #: Called under the catalog's lock, with the names of the skills that a refresh newly found.
        self.arrived: Callable[[list[str]], None] = lambda names: None
        self._indexed: dict[str, SkillMetadata] = {}
        #: Tools that bundles' servers list, by the bundle's path, and the tools among them that are
        #: already in the index.
        self._served: Mapping[str, Sequence[Tool]] = {}
        self._indexed_served: dict[str, Sequence[Tool]] = {}
        self._changes: Changes[[CatalogChange]] = Changes()

    def use_paths(self, paths: Sequence[tuple[Path, SkillScope]]) -> None:
        """Replace the search paths. Takes effect at the next :meth:`refresh`."""
        with self._lock:
            self.paths = tuple(path for path, _ in paths)
            self._scopes = dict(reversed(paths))

    @property
    def known(self) -> list[KnownSkill]:
        """Every skill found, sorted by name."""
        with self._lock:
            return [
                KnownSkill(skill, self._scope_of[name], name in self._loaded)
                for name, skill in sorted(self._known.items())
            ]

    def ships(self, name: str) -> bool:
        """Return whether the skill with that name comes with callboard."""
        with self._lock:
            return self._scope_of.get(name) == "bundled"

    @property
    def loaded(self) -> list[SkillMetadata]:
        """The loaded skills, sorted by name."""
        with self._lock:
            return [self._loaded[name].skill for name in sorted(self._loaded)]

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Problems with skills on disk, as of the last discovery, and bundles that are held
        back."""
        return (*self._failures, *self.held_back)

    def watch(self, listener: Callable[[CatalogChange], None]) -> Callable[[], None]:
        """Call ``listener`` with every change, under the catalog's lock. Return a function that
        removes the listener."""
        return self._changes.watch(listener)

    def get(self, name: str) -> SkillMetadata:
        """Return the skill with that name. Raises SkillError with the nearest names."""
        with self._lock:
            skill = self._known.get(name) or self._known.get(name.replace("_", "-"))
            if skill is None and (other := self._other(name)) is not None:
                raise SkillError(f"skill '{other.name}' is for {other.dcc}, not for {self._dcc}")
            if skill is None:
                near = close_matches(name, self._known, 3, 0.5)
                hint = f"nearest: {', '.join(near)}" if near else "search for another"
                raise SkillError(f"no skill is called '{name[:200]}'; {hint}")
            return skill

    def why_absent(self, tool: str) -> str | None:
        """Return why the tool with this wire name isn't served and how to get it, or None if no
        skill has such a tool."""
        with self._lock:
            for skill in (*self._known.values(), *self._elsewhere):
                if all(skill.wire_name(one.name) != tool for one in skill.tools):
                    continue
                if skill.name in self._known:
                    return f"isn't loaded; call skills__load with name '{skill.name}'"
                return f"is for {skill.dcc}, not for {self._dcc}; connect to a host of that kind"
            for skill in self._known.values():
                for failure in skill.failures:
                    if _keeps_away(failure, skill, tool):
                        return (
                            f"isn't served until this is fixed: {skill.name}/{_reported(failure)}"
                        )
        return None

    def why_old(self, name: str) -> str | None:
        """Return a sentence on why a skill's newest files aren't used, or None if they are. Call it
        from any thread."""
        if (failure := self._worse.get(name)) is None:
            return None
        return f"'{name}' runs older files, because the newest have a problem: {_reported(failure)}"

    def _other(self, name: str) -> SkillMetadata | None:
        names = (name, name.replace("_", "-"))
        return next((skill for skill in self._elsewhere if skill.name in names), None)

    @cached_property
    def _index(self) -> SearchIndex:
        from callboard.skills.search import SearchIndex

        return SearchIndex()

    def also_find(self, place: str, tools: Sequence[Tool]) -> None:
        """Include these tools in searches. They are the ones that the server of the bundle at
        ``place`` lists. An empty list removes the bundle. Runs on the loop and waits for
        nothing."""
        others = {each: its for each, its in self._served.items() if each != place}
        self._served = {**others, place: tools} if tools else others

    def served_tools(self) -> dict[str, Tool]:
        """Return the tools that bundles' servers list, by wire name. Call it from any thread."""
        return {tool.name: tool for tools in self._served.values() for tool in tools}

    def prepare_search(self) -> None:
        """Build the index before the first search. Slow for hundreds of skills."""
        with self._lock:
            self._update_index()

    def search(self, query: str, limit: int = 20, kind: Kind | None = None) -> list[Hit]:
        with self._lock:
            self._update_index()
            return self._index.search(query, limit, kind)

    def load(self, *names: str) -> list[SkillMetadata]:
        """Load the skills and their dependencies. Return those that weren't loaded before. Raises
        SkillError, and loads nothing, when a skill or a dependency is unknown."""
        with self._lock:
            order: dict[str, None] = {}
            for name in names:
                order.update(dict.fromkeys(load_order(self.get(name).name, self._known)))
            new = [self._known[name] for name in order if name not in self._loaded]
            for skill in new:
                self._loaded[skill.name] = seen_now(skill)
            self._tell(CatalogChange(loaded=tuple(new)))
            return new

    def load_scope(self, scope: SkillScope, *, at_start: bool = False) -> list[SkillMetadata]:
        """Load every skill of a scope. A skill that can't be loaded is logged and skipped.
        ``at_start`` skips skills that are loaded only when they are called."""
        loaded: list[SkillMetadata] = []
        with self._lock:
            for name in sorted(name for name, given in self._scope_of.items() if given == scope):
                if at_start and self._known[name].when_called:
                    continue
                try:
                    loaded += self.load(name)
                except SkillError as error:
                    log.warning("%s isn't loaded: %s", name, error.message)
        return loaded

    def unload(self, name: str) -> None:
        """Unload a skill. Raises SkillError when it isn't loaded, or another skill needs it."""
        with self._lock:
            name = name if name in self._loaded else name.replace("_", "-")
            if name not in self._loaded:
                raise SkillError(f"skill '{name}' isn't loaded")
            loaded = {other: one.skill for other, one in self._loaded.items()}
            needed_by = dependents(name, loaded)
            if needed_by:
                raise SkillError(f"other skills need '{name}': unload {', '.join(needed_by)} first")
            del self._loaded[name]
            self._tell(CatalogChange(unloaded=(name,)))

    def refresh(self) -> CatalogChange:
        """Check the disk again. Loaded skills whose files changed are replaced, unless the new
        files are broken in a way the old ones weren't. Skills whose files are gone are unloaded."""
        with self._lock:
            shipped = [path for path, scope in self._scopes.items() if scope == "bundled"]
            before = set(self._known)
            skills, failures, self._elsewhere = scan(
                self.paths, self._dcc, self._cache.load, shipped, self._named, self.why_not
            )
            self._cache.save()
            self._known = {one.skill.name: one.skill for one in skills}
            self._scope_of.update({one.skill.name: self._scopes[one.search_path] for one in skills})
            unloaded: list[str] = []
            replaced: dict[str, SeenSkill] = {}
            self._worse = {}
            for name, old in self._loaded.items():
                new = self._known.get(name)
                if new is None and self._is_still_there(name, old.skill.path):
                    self._known[name] = old.skill
                elif new is None:
                    unloaded.append(name)
                else:
                    newer = seen_now(new)
                    if old.is_still(newer):
                        continue
                    if worse := old.spoiled_by(newer):
                        failures += worse
                        self._worse[name] = worse[0]
                        self._known[name] = old.skill
                    else:
                        replaced[name] = newer
            self._scope_of = {name: self._scope_of[name] for name in self._known}
            for name in unloaded:
                del self._loaded[name]
            self._loaded.update(replaced)
            self._note(failures)
            change = CatalogChange(
                tuple(one.skill for one in replaced.values()), (*unloaded, *replaced)
            )
            self._tell(change)
            if new_names := [name for name in self._known if name not in before]:
                self.arrived(new_names)
            return change

    def _is_still_there(self, name: str, folder: Path) -> bool:
        """Return whether a loaded skill is still on a search path, however broken it is, and may be
        used."""
        if not self.ships(name) and self.why_not(folder) is not None:
            return False
        searched = any(path == folder or path in folder.parents for path in self.paths)
        return searched and os.path.lexists(folder / SKILL_FILE)

    def check_scripts(self) -> None:
        """Add the problems that would make a first call or run fail, for loaded skills that don't
        ship with callboard. Reads their scripts and workflows, so call it on a thread that may
        wait."""
        from callboard.skills.script_check import script_failures  # Startup doesn't need this.

        with self._lock:
            self._looks = number = self._looks + 1
            skills = [one.skill for name, one in self._loaded.items() if not self.ships(name)]
        broken = [failure for skill in skills for failure in script_failures(skill)]
        with self._lock:
            if number < self._reported_by:
                return  # A later check, which saw newer files, has already reported.
            self._reported_by = number
            others = [failure for failure in self._failures if failure not in self._broken]
            self._broken = broken
            self._note(others)

    def _note(self, failures: list[Failure]) -> None:
        for skill in self._known.values():
            failures += [failure for failure in skill.failures if failure not in failures]
        failures += [each for each in dependency_failures(self._known) if each not in failures]
        failures += [each for each in self._broken if each.skill in self._known]
        failures = list(dict.fromkeys(failures))
        for failure in failures:
            if failure not in self._failures:
                log.log(_level(failure), "%s: %s", failure.skill, _reported(failure))
        wrong = {(failure.skill, failure.reference) for failure in failures}
        before = {(each.skill, each.reference): _level(each) for each in self._failures}
        for (name, file), level in before.items():
            if (name, file) not in wrong and name in self._known:
                log.log(level, "%s: %s: fixed", name, file)
        self._failures = tuple(failures)

    def _update_index(self) -> None:
        for name in [name for name in self._indexed if name not in self._known]:
            self._index.remove(name)
            del self._indexed[name]
        for name, skill in self._known.items():
            if self._indexed.get(name) is not skill:
                self._index.add(skill)
                self._indexed[name] = skill
        served = self._served
        for place in [place for place in self._indexed_served if place not in served]:
            self._index.remove(place)
            del self._indexed_served[place]
        for place, tools in served.items():
            if self._indexed_served.get(place) is not tools:
                self._index.add_served(place, tools)
                self._indexed_served[place] = tools

    def _tell(self, change: CatalogChange) -> None:
        if change:
            self._changes.tell(change)


def _keeps_away(failure: Failure, skill: SkillMetadata, tool: str) -> bool:
    """Return whether the failure explains why the skill doesn't serve that tool: its entry failed,
    or no tool could be read at all."""
    if failure.tool is not None:
        return skill.wire_name(failure.tool) == tool
    return not skill.tools and tool.startswith(skill.wire_name(""))


def _level(failure: Failure) -> int:
    return logging.INFO if failure.kind == "replaced" else logging.WARNING


def _reported(failure: Failure) -> str:
    return failure.message if failure.reference == "." else failure.editor_line
