"""The tools of one loaded skill, ready to be called."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import partial

from callboard.calls.entry import Entry
from callboard.calls.tools import NEXT_TOOLS, Tool
from callboard.content import Json
from callboard.skills.model import SkillMetadata, ToolDeclaration
from callboard.skills.scripts import SkillScripts, SkillUnloaded


class SkillTools:
    """A skill's tools and its scripts. Each script is imported when one of its tools is first
    called. ``older`` are the tools that this object replaces."""

    def __init__(
        self, metadata: SkillMetadata, *, ships: bool = False, older: SkillTools | None = None
    ) -> None:
        self.metadata = metadata
        self._ships = ships
        self._scripts: SkillScripts = SkillScripts(
            metadata, None if older is None else older._scripts
        )
        self._digest = ""
        #: The replacement, once the skill has been loaded again.
        self.newer: SkillTools | None = None
        self.tools = [self._tool(declared) for declared in metadata.tools]

    def close(self) -> None:
        """Forget the modules. Running calls finish on the code they started with."""
        self._scripts.close()

    def entry(self, declared: ToolDeclaration) -> Entry:
        """Return the function of one of the skill's tools. Raises SkillError.

        A call that began before the skill was reloaded runs the newer script if the tool's
        declaration, against which the call was checked, is unchanged.
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
            meta[NEXT_TOOLS] = {key: list(names) for key, names in declared.next_tools.items()}
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
            source=self._source,
            ships=self._ships,
        )

    def _source(self) -> str:
        """Return the skill's folder and the digest of its scripts, or an empty string for a bundled
        skill, because nobody else may write to its folder."""
        if self._ships:
            return ""
        if not self._digest:
            digest = hashlib.sha256()
            for script in sorted(self.metadata.path.rglob("*.py")):
                with suppress(OSError):  # A script that can't be read can't be imported either.
                    digest.update(script.read_bytes())
            self._digest = digest.hexdigest()
        return f"{self.metadata.path} {self._digest}"
