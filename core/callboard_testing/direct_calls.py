"""Calls a skill's tools on a host directly, without a server, for the skill's own tests.

The script runs as the server would run it. Arguments and answer are checked against the tool's
schemas. The tool reaches only the ports that it declares. A call that changes the scene is one undo
step, which is rolled back when the tool fails. There is no client, so paths are absolute.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from callboard.calls.entry import Entry
from callboard.calls.json_schema import Validator
from callboard.content import Block, Result
from callboard.errors import CallCancelled, CapabilityMissing, SkillError
from callboard.host import SCENE_MUTATE, Host, HostIdentity
from callboard.skills.discovery import BUNDLED, scan, search_paths
from callboard.skills.discovery_cache import DiscoveryCache
from callboard.skills.model import ToolDeclaration
from callboard.skills.scripts import SkillScripts

#: The skills are kept, because reading them takes longer than most of their tests. Changed files
#: are read again.
_SKILLS = DiscoveryCache()


class DirectContext:
    """The ``ctx`` of a direct call. ``steps`` collects the progress that the tool reported."""

    def __init__(self, host: Host, tool: ToolDeclaration) -> None:
        self._host = host
        self._tool = tool
        self.steps: list[tuple[float, float | None, str | None]] = []
        self.cancelled = False

    @property
    def host_identity(self) -> HostIdentity:
        return self._host.identity

    def port(self, capability: str) -> Any:
        if capability not in self._tool.required_capabilities:
            raise SkillError(f"tool '{self._tool.name}' uses '{capability}' without declaring it")
        return self._host.ports[capability]

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        self.steps.append((done, total, message))

    def printed(self, stream: str = "stdout") -> str:
        """Return an empty string, because the tool's output goes to the process's own streams."""
        return ""

    def log(self, level: str, message: str, **data: Any) -> None:
        """Do nothing, because there is no client that would receive it."""


class DirectCaller:
    """The tools of every skill that suits the host, callable by wire name on the main thread."""

    def __init__(self, host: Host, *skill_paths: str) -> None:
        self._host = host
        self._tools: dict[str, tuple[ToolDeclaration, SkillScripts]] = {}
        #: The latest answer's blocks, such as pictures. Empty if it had none.
        self.content: Sequence[Block | str] = ()
        self._entries: dict[str, Entry] = {}
        #: The undo step of the last call that completed one, or None if that call changed nothing.
        self.undo_id: str | None = None
        kind = host.identity.kind
        paths = search_paths(kind, [*skill_paths, *host.skill_paths])
        shipped = (BUNDLED, *map(Path, host.skill_paths))
        for skill in (one.skill for one in scan(paths, kind, _SKILLS.load, shipped).skills):
            scripts = SkillScripts(skill)
            for tool in skill.tools:
                self._tools[skill.wire_name(tool.name)] = (tool, scripts)

    def missing(self, name: str) -> list[str]:
        """Return the capabilities that the tool needs and the host doesn't offer."""
        tool, _ = self._tools[name]
        return [need for need in tool.required_capabilities if need not in self._host.ports]

    def __call__(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        each_slice: Callable[[DirectContext], None] = lambda ctx: None,
    ) -> Any:
        """Call a tool, and return its answer. If the tool returns a Result, return its structured
        part, if any. ``content`` then has the Result's blocks. Raises whatever the tool raises.
        ``each_slice`` is called between a generator's slices. If it sets ``ctx.cancelled``, the
        generator is closed and CallCancelled is raised."""
        tool, _ = self._tools[name]
        if missing := self.missing(name):
            declared = sorted(self._host.ports)
            raise CapabilityMissing(name, tool.required_capabilities, missing, declared)
        given = dict(arguments or {})
        arguments_check, answer_check = _checks(
            json.dumps(tool.input_schema), json.dumps(tool.output_schema)
        )
        arguments_check.check(given)
        entry = self._entry(name)
        ctx = DirectContext(self._host, tool)
        if entry.takes_ctx:
            given["ctx"] = ctx
        undo = self._host.undo if SCENE_MUTATE in tool.required_capabilities else None
        token = undo.begin(name) if undo else None
        try:
            answer = entry.function(**given)
            if entry.kind == "generator":
                answer = _exhaust(answer, ctx, each_slice)
            self.content = answer.content if isinstance(answer, Result) else ()
            if isinstance(answer, Result) and answer.structured is not None:
                answer = answer.structured
            if answer_check is not None:
                answer_check.check(answer)
        except BaseException:
            if undo:
                undo.rollback(token)
            raise
        if undo:
            self.undo_id = undo.commit(token)
        return answer

    def _entry(self, name: str) -> Entry:
        if name not in self._entries:
            tool, scripts = self._tools[name]
            self._entries[name] = scripts.entry(tool)
        return self._entries[name]


@lru_cache(maxsize=1000)
def _checks(arguments: str, answer: str) -> tuple[Validator, Validator | None]:
    """Return the validators for two schemas, given as JSON, of a tool's arguments and of its
    answer. They are kept for the callers of other hosts and scenes, because compiling them takes
    longer than most checks."""
    of_answer = json.loads(answer)
    check = Validator(of_answer, name="answer") if of_answer is not None else None
    return Validator(json.loads(arguments), whole_characters=True), check


def _exhaust(slices: Any, ctx: DirectContext, each_slice: Callable[[DirectContext], None]) -> Any:
    try:
        while True:
            next(slices)
            each_slice(ctx)
            if ctx.cancelled:
                raise CallCancelled("cancelled between two slices")
    except StopIteration as stop:
        return stop.value
    finally:
        slices.close()
