"""Keeps the served tools and prompts in step with the skills that are loaded."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from callboard.calls.tools import Tool, ToolRegistry
from callboard.skills.catalog import CatalogChange, SkillCatalog
from callboard.skills.prompts.registry import PromptRegistry
from callboard.skills.serving.skill_tools import SkillTools

log = logging.getLogger(__name__)

#: Tools of the user's own skills that are loaded at start without being asked for. With more of
#: them, agents find skills by search, so that the list of tools stays short.
LOAD_AT_START = 100


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

    def start(self) -> None:
        """Finds the skills and loads those that ship, and the user's own where they are few."""
        self.catalog.refresh()
        self.catalog.load_scope("bundled")
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
        for known in self.catalog.known:
            skill = known.skill
            if not known.loaded and any(skill.wire_name(tool.name) == name for tool in skill.tools):
                return f"its skill isn't loaded; call skills__load with name '{skill.name}'"
        return None

    def _changed(self, change: CatalogChange) -> None:
        with self._lock:
            gone = [self._loaded.pop(name) for name in change.unloaded if name in self._loaded]
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
