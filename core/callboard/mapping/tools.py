"""The tools ``farm__map``, ``farm__status``, ``farm__results`` and ``farm__cancel``."""

from __future__ import annotations

from typing import Any

from callboard.calls.context import AsyncToolContext, call_of
from callboard.calls.tools import Tool
from callboard.content import Json
from callboard.host_kit.headless import HOSTS
from callboard.jobs.tools import CHANGES, LONGEST_WAIT, READS, own_tool
from callboard.mapping.maps import Maps
from callboard.mapping.plan import MapRequest
from callboard.ports.capability_names import FARM, FILESYSTEM_READ

#: Maximum number of seconds that a whole map may take. Each of its tasks has a separate limit.
LONGEST = 7 * 86_400.0
#: Maximum number of results on one page.
_MOST = 200


class _Calls:
    """The functions behind the tools."""

    def __init__(self, maps: Maps) -> None:
        self._maps = maps

    async def map(
        self,
        ctx: AsyncToolContext,
        tool: str,
        run: str | None = None,
        host: str | None = None,
        retries: int = 2,
        timeout_s: float | None = None,
        _workspace_roots: Any = None,
        **asked: Any,
    ) -> Json:
        options = ["--retries", str(retries)]
        options += ["--timeout", str(timeout_s)] if timeout_s is not None else []
        options += ["--save"] if asked.get("save") else []
        request, roots = MapRequest(**asked), _workspace_roots
        where = (roots, host, options, ctx.progress)
        return await self._maps.run(call_of(ctx), run, tool, request, *where)

    async def status(self, ctx: AsyncToolContext, run: str, wait_s: float = 0) -> Json:
        return await self._maps.status(call_of(ctx), run, wait_s)

    async def results(
        self,
        ctx: AsyncToolContext,
        run: str,
        offset: int = 0,
        limit: int = 50,
        failed_only: bool = False,
    ) -> Json:
        return await self._maps.results(call_of(ctx), run, offset, limit, failed_only)

    async def cancel(self, ctx: AsyncToolContext, run: str) -> Json:
        return await self._maps.cancel(call_of(ctx), run)


def farm_tools(maps: Maps) -> list[Tool]:
    """Return the four tools for one server's maps. They run on its loop."""
    calls = _Calls(maps)
    return [
        own_tool(
            "farm__map",
            "Runs one tool of a skill over many files, frames or rows on the farm's hosts, once a "
            "person allows it. Answers at once with a job_id; farm__status shows its progress. "
            "Texts in arguments may hold {file}, {folder}, {stem}, {index}, {frame}, or the names "
            "of a row's values; without arguments, each row is the arguments.",
            _MAP,
            calls.map,
            required=("tool",),
            capabilities=(FARM, FILESYSTEM_READ),
            hints={**CHANGES, "openWorldHint": True},
            execution="async",
            timeout_secs=LONGEST,
        ),
        own_tool(
            "farm__status",
            "Counts a map's tasks that are done, failed, with the hosts, and waiting, with their "
            "speed and first errors. With wait_s it waits for the end.",
            {"run": _RUN, "wait_s": _WAIT},
            calls.status,
            required=("run",),
            hints=READS,
        ),
        own_tool(
            "farm__results",
            "A map's results in arrival order, a page at a time; next_offset gets the next page.",
            {"run": _RUN, **_PAGE},
            calls.results,
            required=("run",),
            hints=READS,
        ),
        own_tool(
            "farm__cancel",
            "Ends a map with its running tasks, and reports what was done. The same map with the "
            "same run goes on from there.",
            {"run": _RUN},
            calls.cancel,
            required=("run",),
        ),
    ]


_WAIT: Json = {"type": "number", "minimum": 0, "maximum": LONGEST_WAIT, "default": 0}
_PAGE: Json = {
    "offset": {"type": "integer", "minimum": 0, "default": 0},
    "limit": {"type": "integer", "minimum": 1, "maximum": _MOST, "default": 50},
    "failed_only": {"type": "boolean", "default": False},
}
_RUN: Json = {
    "type": "string",
    "pattern": "^[A-Za-z0-9_-]{1,64}$",
    "description": "The run's name, or the job_id that farm__map answered with",
}
_PATH: Json = {"type": "string", "minLength": 1, "maxLength": 4096}
_MAP: Json = {
    "tool": {"type": "string", "minLength": 1, "maxLength": 128},
    "arguments": {"type": "object", "description": "For each task, with {…} filled in"},
    "files": {
        "type": "array",
        "minItems": 1,
        "maxItems": 1000,
        "items": _PATH,
        "description": "Patterns such as workspace://shots/**/*.usd; each file is opened first",
    },
    "frames": {"type": "string", "maxLength": 1000, "description": "1-100, 1-100x5 or 1,7,9-12"},
    "rows": {"type": "array", "minItems": 1, "items": {"type": "object"}},
    "table": {**_PATH, "description": "A .jsonl or .csv file with a task in each row"},
    "run": {
        "type": "string",
        "pattern": "^[a-z0-9][a-z0-9_-]{0,63}$",
        "description": "A name: a later map with the same name does only tasks that aren't done",
    },
    "host": {"enum": list(HOSTS), "description": "The kind of hosts; by default, this host's kind"},
    "open": {"type": "boolean", "default": True, "description": "Whether files are opened"},
    "save": {"type": "boolean", "default": False, "description": "Save each opened file"},
    "retries": {"type": "integer", "minimum": 0, "maximum": 10, "default": 2},
    "timeout_s": {"type": "number", "exclusiveMinimum": 0, "maximum": 86400},
}
