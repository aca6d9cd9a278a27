"""The tools of loaded skills, ready to be called."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from functools import partial

from callboard.server.tools import Tool
from callboard.skills.model import SkillMetadata, ToolDeclaration
from callboard.skills.scripts import SkillScripts

log = logging.getLogger(__name__)


class LoadedSkill:
    """A skill and its scripts, which are imported one by one when they are first called."""

    def __init__(self, metadata: SkillMetadata) -> None:
        self.metadata = metadata
        self._scripts = SkillScripts(metadata)

    def tools(self) -> Iterator[Tool]:
        for declaration in self.metadata.tools:
            yield self._tool(declaration)

    def close(self) -> None:
        """Forgets the modules. Calls that run finish on the code they started with."""
        self._scripts.close()

    def _tool(self, declared: ToolDeclaration) -> Tool:
        meta = {}
        if declared.next_tools:
            meta["dcc.next_tools"] = {
                key: list(names) for key, names in declared.next_tools.items()
            }
        return Tool(
            name=self.metadata.wire_name(declared.name),
            description=declared.description,
            input_schema=declared.input_schema,
            load=partial(self._scripts.entry, declared),
            output_schema=declared.output_schema,
            required_capabilities=declared.required_capabilities,
            affinity=declared.affinity,
            execution=declared.execution,
            timeout_secs=declared.timeout_hint_secs,
            title=declared.title,
            annotations=declared.annotations,
            icons=declared.icons,
            meta=meta,
            skill=self.metadata.name,
        )


def load_tools(skills: Iterable[LoadedSkill]) -> list[Tool]:
    """Every skill's tools. Of two skills with the same name the first one found wins."""
    found: dict[str, Tool] = {}
    for skill in skills:
        for tool in skill.tools():
            if tool.name in found:
                log.warning("%s: %s is taken already", skill.metadata.name, tool.name)
            else:
                found[tool.name] = tool
    return list(found.values())
