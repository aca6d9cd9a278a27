"""Keeps the served tools and prompts in step with the skills that are loaded."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress

from callboard.calls.tools import Tool, ToolRegistry
from callboard.errors import SkillError
from callboard.skills.catalog import CatalogChange, SkillCatalog
from callboard.skills.model import SkillMetadata
from callboard.skills.prompts.registry import PromptRegistry
from callboard.skills.serving.skill_tools import SkillTools

log = logging.getLogger(__name__)

#: Tools of the user's own skills that are loaded at start without being asked for. With more of
#: them, agents find skills by search, so that the list of tools stays short.
LOAD_AT_START = 100
#: Tools that calls of them may load; further ones are loaded by skills__load.
LOAD_BY_CALLS = 100


class LoadedSkills:
    """Listens to a catalog. Any thread; a list asked for after a change shows it."""

    def __init__(self, catalog: SkillCatalog, tools: ToolRegistry, prompts: PromptRegistry) -> None:
        self.catalog = catalog
        self._tools = tools
        self._prompts = prompts
        self._loaded: dict[str, SkillTools] = {}
        self._lock = threading.Lock()
        self._stop: Callable[[], None] = catalog.watch(self._changed)
        tools.explain_absent(self._not_loaded)
        tools.load_absent = self._load_for
        self._room = LOAD_BY_CALLS
        #: Skills that somebody unloaded, which a call doesn't bring back.
        self._taken_off: set[str] = set()

    def start(self) -> None:
        """Finds the skills and loads those that ship, and the user's own where they are few."""
        self.catalog.refresh()
        self.catalog.load_scope("bundled", at_start=True)
        own = [known for known in self.catalog.known if known.scope != "bundled"]
        if sum(len(known.skill.tools) for known in own) <= LOAD_AT_START:
            self.catalog.load_scope("user")
            self.catalog.load_scope("project")

    def close(self) -> None:
        """Stops listening and forgets the scripts' modules."""
        self._stop()
        with self._lock:
            for skill in self._loaded.values():
                skill.close()
            self._loaded.clear()

    def _not_loaded(self, name: str) -> str | None:
        """What to do about a name that a tool would have if its skill were loaded."""
        skill = self._skill_of(name)
        if skill is None:
            return None
        return f"its skill isn't loaded; call skills__load with name '{skill.name}'"

    def _load_for(self, name: str) -> None:
        """Loads the skill whose tool has that name, while there is room. Where it can't be loaded,
        skills__load says why."""
        skill = self._skill_of(name)
        if skill is None or skill.name in self._taken_off or len(skill.tools) > self._room:
            return
        with suppress(SkillError):
            self._room -= sum(len(one.tools) for one in self.catalog.load(skill.name))

    def _skill_of(self, name: str) -> SkillMetadata | None:
        """The skill that isn't loaded and has a tool of that name."""
        for known in self.catalog.known:
            skill = known.skill
            if not known.loaded and any(skill.wire_name(tool.name) == name for tool in skill.tools):
                return skill
        return None

    def _changed(self, change: CatalogChange) -> None:
        with self._lock:
            gone = [self._loaded.pop(name) for name in change.unloaded if name in self._loaded]
            self._taken_off.update(change.unloaded)
            self._taken_off.difference_update(one.name for one in change.loaded)
            remove = [tool.name for skill in gone for tool in skill.tools]
            add: list[Tool] = []
            for metadata in change.loaded:
                skill = SkillTools(metadata, ships=self.catalog.ships(metadata.name))
                self._loaded[metadata.name] = skill
                add.extend(skill.tools)
            self._tools.replace(remove, add)
            self._prompts.set_skills(self.catalog.loaded)
        # Calls that run finish on the code they started with.
        for skill in gone:
            skill.close()
