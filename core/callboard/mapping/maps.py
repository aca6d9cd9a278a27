"""The maps of one server. The tool ``farm__map`` starts them, and the other tools report on them or
end them."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from callboard.calls.call import Call
from callboard.calls.dispatcher import Dispatcher
from callboard.calls.tools import Tool
from callboard.client_files.known import bridge
from callboard.clients.holder import TokenHolder
from callboard.clients.owner import Owner, may_see
from callboard.clients.shares import has_place
from callboard.config import McpHttpConfig
from callboard.content import Json
from callboard.errors import CallboardError, CapabilityMissing, HostBusy, HostError, InvalidParams
from callboard.host_kit.headless import HOSTS
from callboard.jobs.jobs import Job, JobRequest, Jobs
from callboard.mapping.map_run import MapRun
from callboard.mapping.plan import SCENE, MapRequest, rows_of
from callboard.mapping.reports import Reports
from callboard.ports.capability_names import SCRIPT
from callboard.protocol.headers import TRACE, is_trace
from callboard.workspace.containment import WorkspaceRoots

T = TypeVar("T")
#: Maximum number of maps that run at once.
_MOST_AT_ONCE = 4
#: Seconds to wait for a cancelled map, so that its process can shut down cleanly.
_ENDING = 30.0
#: Maximum number of finished runs of this server that stay in memory.
_KEPT = 64
_SHOWN_ROWS = 3
_NO_SUCH_RUN = "you have no such run; farm__map answers with the id of a new one"


class Maps:
    """The maps of one server. Runs on the server's loop."""

    def __init__(
        self, dispatcher: Dispatcher, jobs: Jobs, config: McpHttpConfig, folder: Path
    ) -> None:
        """``folder`` contains the reports."""
        self._dispatcher, self._jobs = dispatcher, jobs
        self._config, self._folder = config, folder
        self._runs: dict[tuple[TokenHolder, str], MapRun] = {}

    async def run(
        self,
        call: Call,
        name: str | None,
        tool: str,
        asked: MapRequest,
        roots: WorkspaceRoots | None,
        host: str | None,
        options: Sequence[str],
        progress: Callable[[int, int], None],
    ) -> Json:
        """Run a whole map to its end. Raises InvalidParams, WorkspaceResolveError,
        CapabilityMissing, RefusedByArtist, HostBusy and HostError. If the run fails, its results so
        far are kept."""
        run = self._begin(call, name or secrets.token_hex(6), tool)
        try:
            mapped = await self._mappable(call, tool)
            run.kind = kind = self._host_kind(host)
            most = self._config.farm_limit
            rows = await self._in_thread(call, rows_of, asked, mapped, roots, most)
            run.total = len(rows)
            reports = Reports(self._folder, call.request.peer.holder)
            command = self._command(call, run, kind, options, reports)
            await self._in_thread(call, _require_same, reports, run, kind, asked.save)
            await self._ask(call, run, mapped, kind, rows)
            run.state = "working"
            await self._in_thread(call, reports.begin, run.name, rows)
            environment = _environment(command, call.trace.get(TRACE, ""))
            await run.perform(command, environment, progress)
            run.close("completed")
        except asyncio.CancelledError:
            run.close("cancelled", _again(run.name))
            raise
        except CallboardError as error:
            run.close("failed", error.message)
            raise
        except OSError as error:
            run.close("failed", f"the run can't be saved: {error}")
            raise HostError(run.message) from None
        return run.describe()

    async def status(self, call: Call, name: str, wait_s: float) -> Json:
        """Return the status of one run, once the run has ended or after ``wait_s`` seconds. Raises
        InvalidParams."""
        run = self._find(call, name)
        if run is not None:
            if wait_s > 0:
                await _wait(run, wait_s)
            return run.describe()
        if (job := self._unmade(name, call.request.peer.owner)) is not None:
            return {"job_id": name, **job.describe()}
        reports = await self._kept(call, name)
        tally, total = await self._in_thread(call, reports.tally, name)
        reported: Json = {
            "run": name,
            "status": "completed" if tally.finished else "interrupted",
            "tasks": total,
            "done": tally.done,
            "failed": tally.failed,
        }
        if tally.first_errors:
            reported["first_errors"] = tally.first_errors
        return reported if tally.finished else {**reported, "message": _again(name)}

    async def results(
        self, call: Call, name: str, offset: int, limit: int, failed_only: bool
    ) -> Json:
        """Return a page of the results so far. Raises InvalidParams."""
        run = self._find(call, name)
        name = name if run is None else run.name
        reports = Reports(self._folder, call.request.peer.holder)
        if run is None:
            reports = await self._kept(call, name)
        page = await self._in_thread(call, reports.page, name, offset, limit, failed_only)
        return {"run": name, **page}

    async def cancel(self, call: Call, name: str) -> Json:
        """End a run and return its final status. Raises InvalidParams."""
        run, asker = self._find(call, name), call.request.peer.owner
        if run is None:
            if self._unmade(name, asker) is not None:
                self._jobs.cancel(name, asker)
            return await self.status(call, name, 0)
        if not run.ended.is_set():
            self._jobs.cancel(run.job_id, asker)
            await _wait(run, _ENDING)
        return run.describe()

    # -- internals --------------------------------------------------------------------------------

    def _begin(self, call: Call, name: str, tool: str) -> MapRun:
        if not isinstance(call.request, JobRequest):
            raise InvalidParams("a workflow can't run a map; call farm__map on its own")
        holder = call.request.peer.holder
        alive = [whose for (whose, _), run in self._runs.items() if not run.ended.is_set()]
        if not has_place(holder, alive, _MOST_AT_ONCE):
            raise HostBusy(
                f"{len(alive)} maps are already running, {alive.count(holder)} of them yours; wait "
                "for one of yours to end, or cancel one"
            )
        key = holder, name
        if key in self._runs and not self._runs[key].ended.is_set():
            raise InvalidParams(
                f"the run '{name}' hasn't ended; wait for it with farm__status, end it with "
                "farm__cancel, or give another name"
            )
        over = [key for key, run in self._runs.items() if run.ended.is_set()]
        for old in over[: max(0, len(over) - _KEPT)]:
            del self._runs[old]
        run = self._runs[key] = MapRun(name, call.request.job_id, tool, call.request.peer.owner)
        return run

    async def _mappable(self, call: Call, name: str) -> Tool:
        dispatcher = self._dispatcher
        await self._in_thread(call, dispatcher.tools.load_absent, name)
        tool = dispatcher.tools.get(name)
        if tool.skill is None or tool.ours:
            raise InvalidParams(f"{name} isn't a skill's tool; only tools of skills can be mapped")
        if SCRIPT in tool.required_capabilities:
            raise InvalidParams(
                f"{name} runs code, which a map must not do; put the code into a tool of a skill "
                "that the farm's hosts have, and map that tool"
            )
        # A capability that the artist withdrew here isn't available through the farm either. A
        # capability that is missing only because this host has no port for it may exist on the
        # farm's hosts.
        taken = self._dispatcher.capabilities.withdrawn
        if missing := [one for one in tool.required_capabilities if one in taken]:
            offered = dispatcher.capabilities.declared
            raise CapabilityMissing(name, tool.required_capabilities, missing, offered)
        return tool

    def _host_kind(self, given: str | None) -> str:
        kind = given or self._dispatcher.host.identity.kind
        if kind not in HOSTS:
            raise InvalidParams(f"name the kind of the farm's hosts in 'host': {', '.join(HOSTS)}")
        return kind

    async def _ask(
        self, call: Call, run: MapRun, tool: Tool, kind: str, rows: Sequence[Json]
    ) -> None:
        where = self._config.farm_scheduler
        why = f"wants to run {tool.name} {len(rows):,} times, on the farm's {kind} hosts at {where}"
        shown: Json = {"tool": tool.name, "tasks": len(rows), "farm": where, "host": kind}
        shown["first"] = list(rows[:_SHOWN_ROWS])
        if len(rows) > _SHOWN_ROWS:
            shown["last"] = rows[-1]
        shown.update({key: call.arguments[key] for key in ("save",) if key in call.arguments})
        run.state = "asking"
        call.state = "asking"
        await self._dispatcher.consent.ask_about_map(call, tool, why, shown)
        self._dispatcher.admit(call.tool)  # The artist may have left since.
        call.state = "running"

    def _command(
        self, call: Call, run: MapRun, kind: str, options: Sequence[str], reports: Reports
    ) -> list[str]:
        config = self._config
        base = list(config.farm_command) or (bridge() or [])[:-1]
        if not base:
            raise HostError(
                "callboard's command can't be found on this machine: install it, with "
                "Dask, in a Python environment of its own, and set farm_command "
                "(CALLBOARD_FARM_COMMAND) to that command"
            )
        peer = call.request.peer
        command = [*base, "farm", "run", run.tool, "--host", kind, "--attached"]
        command += ["--scheduler", config.farm_scheduler, *_certificates(config), *options]
        command += ["--over", str(reports.tasks(run.name)), "--scene", SCENE]
        command += ["--report", str(reports.report(run.name))]
        return [*command, "--asker", json.dumps([*peer.client[:2], *peer.holder])]

    def _find(self, call: Call, name: str) -> MapRun | None:
        asker = call.request.peer.owner
        of_token = [run for (whose, _), run in self._runs.items() if whose == asker.holder]
        named = [run for run in of_token if name in (run.name, run.job_id)]
        if named and not may_see(named[0].owner, asker):
            # If this returned None, callers would find the run's report on disk.
            raise InvalidParams(_NO_SUCH_RUN)
        return named[0] if named else None

    def _unmade(self, id: str, asker: Owner) -> Job | None:
        """Return the job of a map that was refused before it began."""
        try:
            return self._jobs.get(id, asker)
        except InvalidParams:
            return None

    async def _kept(self, call: Call, name: str) -> Reports:
        reports = Reports(self._folder, call.request.peer.holder)
        if await self._in_thread(call, reports.begun, name) is None:
            raise InvalidParams(_NO_SUCH_RUN)
        return reports

    async def _in_thread(self, call: Call, work: Callable[..., T], *args: Any) -> T:
        return await self._dispatcher.workers.run_on_paths(call.tool, partial(work, *args))


async def _wait(run: MapRun, seconds: float) -> None:
    try:
        await asyncio.wait_for(run.ended.wait(), seconds)
    except asyncio.TimeoutError:
        return


def _require_same(reports: Reports, run: MapRun, kind: str, save: bool) -> None:
    begun = reports.begun(run.name)
    now = {"tool": run.tool, "host": kind, "save": save}
    if begun is not None and any(begun.get(key) != value for key, value in now.items()):
        raise InvalidParams(
            f"the run '{run.name}' was begun with {begun.get('tool')} on {begun.get('host')}, and "
            "can only continue with the same tool, host and save; give another name"
        )


def _certificates(config: McpHttpConfig) -> list[str]:
    files = config.farm_tls
    if files and len(files) != 3:
        raise HostError("farm_tls needs three PEM files: CA, certificate and key")
    names = ("--tls-ca", "--tls-cert", "--tls-key")
    return [word for pair in zip(names, files, strict=False) for word in pair]


def _environment(command: Sequence[str], trace: str) -> Mapping[str, str]:
    """Return the environment for the command, with the call's trace. PYTHONHOME is removed unless
    the command runs this application's own Python, because any other Python would look for its
    modules in the wrong place."""
    own = command[0] == sys.executable
    kept = {name: value for name, value in os.environ.items() if own or name != "PYTHONHOME"}
    return {**kept, "TRACEPARENT": trace} if is_trace(trace) else kept


def _again(name: str) -> str:
    return f"finished tasks are kept; the same farm__map with run: '{name}' continues from there"
