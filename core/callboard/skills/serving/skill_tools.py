"""The tools of one loaded skill, ready to be called."""

from __future__ import annotations

from functools import partial

from callboard.calls.entry import Entry
from callboard.calls.tools import Tool
from callboard.content import Json
from callboard.skills.model import SkillMetadata, ToolDeclaration
from callboard.skills.scripts import SkillScripts, SkillUnloaded


class SkillTools:
    """A skill's tools and its scripts, which are imported one by one when first called. ``older``
    is what it replaces."""

    def __init__(
        self, metadata: SkillMetadata, *, ships: bool = False, older: SkillTools | None = None
    ) -> None:
        self.metadata = metadata
        self._ships = ships
        self._scripts: SkillScripts = SkillScripts(
            metadata, None if older is None else older._scripts
        )
        #: What took its place when the skill was loaded anew.
        self.newer: SkillTools | None = None
        self.tools = [self._tool(declared) for declared in metadata.tools]

    def close(self) -> None:
        """Forgets the modules. Calls that run finish on the code they started with."""
        self._scripts.close()

    def entry(self, declared: ToolDeclaration) -> Entry:
        """What one of its declarations runs. Raises SkillError.

        A call that met the skill's older self runs the newer script, where nothing of what was
        checked of the call is declared otherwise by now.
        """
        try:
            return self._scripts.entry(declared)
        except SkillUnloaded:
            if self.newer is None or declared not in self.newer.metadata.tools:
                raise
            return self.newer.entry(declared)

    def _tool(self, declared: ToolDeclaration) -> Tool:
        meta: Json = {}
        if declared.next_tools:
            meta["dcc.next_tools"] = {
                key: list(names) for key, names in declared.next_tools.items()
            }
        return Tool(
            name=self.metadata.wire_name(declared.name),
            description=declared.description or declared.name,
            input_schema=declared.input_schema,
            load=partial(self.entry, declared),
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
            ships=self._ships,
        )
