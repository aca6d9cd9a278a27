"""Keeps the served tools and prompts in step with the loaded skills."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from callboard.calls.entry import Entry
from callboard.calls.tools import Tool, ToolRegistry
from callboard.errors import SkillError
from callboard.skills.catalog import CatalogChange, SkillCatalog, SkillScope
from callboard.skills.model import SkillMetadata, ToolDeclaration
from callboard.skills.prompts.registry import PromptRegistry
from callboard.skills.serving.skill_tools import SkillTools

if TYPE_CHECKING:
    from callboard.skills.watch import SkillWatcher

log = logging.getLogger(__name__)

#: Maximum number of tools of the user's own skills that are loaded at start without a request. If
#: there are more, agents find skills by search, so that the list of tools stays short.
LOAD_AT_START = 100
#: The scopes of the user's own skills.
OWN: tuple[SkillScope, ...] = ("user", "project", "site")
#: Maximum number of tools that calls may load. Further tools need skills__load.
LOAD_BY_CALLS = 100
#: If there are more skills than this, the search is prepared in advance.
FEW_SKILLS = 20


class LoadedSkills:
    """Follows a catalog. Use it from any thread. A list requested after a change includes that
    change."""

    def __init__(self, catalog: SkillCatalog, tools: ToolRegistry, prompts: PromptRegistry) -> None:
        self.catalog = catalog
        self._tools = tools
        self._prompts = prompts
        self._loaded: dict[str, SkillTools] = {}
        self._lock = threading.Lock()
        self._stop: Callable[[], None] = catalog.watch(self._changed)
        tools.explain_absent(catalog.why_absent)
        tools.load_absent = self._load_for
        tools.why_old = catalog.why_old
        self._room = LOAD_BY_CALLS
        #: Skills that were unloaded on request. A call doesn't load them again.
        self._taken_off: set[str] = set()

    def start(self) -> None:
        """Find the skills. Load the bundled skills, and the user's own if there are only a few."""
        self.catalog.refresh()
        self.catalog.load_scope("bundled", at_start=True)
        if self._own_are_few():
            for scope in OWN:
                self.catalog.load_scope(scope)
        self.catalog.arrived = self._arrived

    def deferred(self) -> list[Callable[[], None]]:
        """Return work that needn't delay the start, for threads that may wait."""
        work: list[Callable[[], None]] = []
        if len(self.catalog.known) > FEW_SKILLS:
            work.append(self.catalog.prepare_search)
        if any(not self.catalog.ships(skill.name) for skill in self.catalog.loaded):
            work.append(self.catalog.check_scripts)
        return work

    def watcher(self, paths: Sequence[Path], poll: bool = False) -> SkillWatcher | None:
        """Return a watcher that, once started, keeps the skills in step with the disk, or None when
        there are no paths. With ``poll``, the watcher checks repeatedly, for drives that don't
        report changes."""
        if not paths:
            return None
        from callboard.skills.watch import SkillWatcher

        return SkillWatcher(paths, self._look_again, poll=poll)

    def _look_again(self) -> None:
        self.catalog.refresh()
        self.catalog.check_scripts()

    def close(self) -> None:
        """Stop following the catalog and forget the scripts' modules."""
        self._stop()
        with self._lock:
            for skill in self._loaded.values():
                skill.close()
            self._loaded.clear()

    def entry(self, skill: str, declared: ToolDeclaration) -> Entry:
        """Return a function of a loaded skill's scripts. Raises SkillError."""
        with self._lock:
            loaded = self._loaded.get(skill)
        if loaded is None:
            raise SkillError(f"skill '{skill}' was unloaded; skills__load loads it again")
        return loaded.entry(declared)

    def _arrived(self, names: list[str]) -> None:
        """Load skills that were added after the start, if the user has only a few skills of their
        own."""
        if self._own_are_few():
            for name in names:
                with suppress(SkillError):  # The catalog's failures report this.
                    self.catalog.load(name)
        else:
            log.info("not loaded, because there are many skills: %s", ", ".join(names))

    def _own_are_few(self) -> bool:
        own = [known for known in self.catalog.known if known.scope != "bundled"]
        return sum(len(known.skill.tools) for known in own) <= LOAD_AT_START

    def _load_for(self, name: str) -> None:
        """Load the skill that has a tool with that name, if there is room. If it can't be loaded,
        skills__load explains why."""
        skill = self._skill_of(name)
        if skill is None or skill.name in self._taken_off or len(skill.tools) > self._room:
            return
        with suppress(SkillError):
            self._room -= sum(len(one.tools) for one in self.catalog.load(skill.name))

    def _skill_of(self, name: str) -> SkillMetadata | None:
        """Return the skill that isn't loaded and has a tool with that name."""
        for known in self.catalog.known:
            skill = known.skill
            if not known.loaded and any(skill.wire_name(tool.name) == name for tool in skill.tools):
                return skill
        return None

    def _changed(self, change: CatalogChange) -> None:
        with self._lock:
            olds = {name: self._loaded.pop(name, None) for name in change.unloaded}
            gone = [skill for skill in olds.values() if skill is not None]
            self._taken_off.update(change.unloaded)
            self._taken_off.difference_update(one.name for one in change.loaded)
            remove = [tool.name for skill in gone for tool in skill.tools]
            add: list[Tool] = []
            for metadata in change.loaded:
                name = metadata.name
                skill = SkillTools(metadata, ships=self.catalog.ships(name), older=olds.get(name))
                self._loaded[name] = skill
                add.extend(skill.tools)
            for old in gone:
                old.newer = self._loaded.get(old.metadata.name)
            self._tools.replace(remove, add)
            self._prompts.set_skills(self.catalog.loaded)
        # Running calls finish on the code they started with.
        for skill in gone:
            skill.close()
