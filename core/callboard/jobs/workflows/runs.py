"""Finds, runs, reports on and cancels the workflows of loaded skills."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import Any

from callboard.calls.call import Call
from callboard.calls.dispatcher import Dispatcher
from callboard.calls.json_schema import BadSchema, SchemaViolation, Validator
from callboard.clients.owner import Owner, may_see
from callboard.content import Json, Result
from callboard.errors import CallboardError, InvalidParams
from callboard.ground.nearest_names import close_matches
from callboard.jobs.jobs import JobRequest, Jobs
from callboard.jobs.workflows import RUN
from callboard.jobs.workflows.find import not_read, workflows_of
from callboard.jobs.workflows.run import ReportProgress, WorkflowRun
from callboard.jobs.workflows.steps import StepRequest
from callboard.jobs.workflows.store import RunStore
from callboard.skills.catalog import SkillCatalog
from callboard.skills.workflows.workflow import ParallelStep, Step, ToolStep, Workflow, substeps

log = logging.getLogger(__name__)

#: Maximum number of finished runs that are kept in memory.
ENDED_LIMIT = 64
#: The number of runs that ``workflows__status`` lists when it is called without an id.
RECENT = 20
#: Seconds between two saves of a run in progress.
SAVE_PAUSE = 0.25
#: Seconds that a cancellation waits for the run's changes to be undone.
CANCEL_PATIENCE = 10.0


class Workflows:
    """The workflow runs of one server. Use it on the server's loop, except for :meth:`close`."""

    def __init__(
        self, dispatcher: Dispatcher, jobs: Jobs, catalog: SkillCatalog, folder: Path
    ) -> None:
        self._dispatcher = dispatcher
        self._jobs = jobs
        self._catalog = catalog
        self._store = RunStore(folder)
        self._writing = asyncio.Lock()
        self._runs: dict[str, WorkflowRun] = {}

    async def run(self, call: Call, name: str, inputs: Json, report: ReportProgress) -> Result:
        """Run a workflow, and return when it has ended. A client that doesn't want to wait starts
        the workflow as a job. ``call`` is the call that started the run. Raises InvalidParams for
        an unknown workflow, unknown tools and wrong inputs, before any step runs."""
        if isinstance(call.request, StepRequest):
            raise InvalidParams("a workflow can't run another one; call its tools instead")
        workflow = await asyncio.get_running_loop().run_in_executor(None, self._find, name)
        values = _checked(workflow, inputs)
        self._admit(workflow.steps)
        id = call.request.job_id if isinstance(call.request, JobRequest) else secrets.token_hex(12)
        run = WorkflowRun(id, workflow, values, call.request, self._dispatcher, report, self._save)
        if call.task is not None:
            run.cancel = call.task.cancel
        self._forget_old()
        self._runs[id] = run
        await run.perform()
        status = run.describe()
        if run.status == "completed":
            return Result([f"{run.name} is done"], structured=status)
        # In a shell or a record, only this text is shown, so it says where to find out more.
        reported = f'{run.message}. workflows__status {{"run_id": "{id}"}} shows what each step did'
        return Result([reported], structured=status, is_error=True)

    async def status(self, id: str, asker: Owner) -> Json:
        """Return the status of one run. Raises InvalidParams when the asker has no such run."""
        run = self._live(id, asker)
        if run is not None:
            return run.describe()
        known = await asyncio.get_running_loop().run_in_executor(None, self._store.read, id, asker)
        if known is None:
            known = self._not_begun(id, asker)
        if known is None:
            raise InvalidParams(
                "there is no such run; workflows__status without run_id lists your latest runs"
            )
        return known

    async def recent(self, asker: Owner) -> list[Json]:
        """Return the asker's latest runs, on all instances, newest first, without their steps."""
        loop = asyncio.get_running_loop()
        stored = await loop.run_in_executor(None, self._store.recent, RECENT, asker)
        runs = {run["run_id"]: run for run in stored}
        for id in self._runs:
            if (run := self._live(id, asker)) is not None:
                runs[id] = run.describe()
        newest = sorted(runs.values(), key=lambda run: str(run.get("updated")), reverse=True)
        return [{key: run[key] for key in run if key != "steps"} for run in newest[:RECENT]]

    async def cancel(self, id: str, asker: Owner) -> Json:
        """Cancel a run on this instance and return its outcome. Raises InvalidParams."""
        run = self._live(id, asker)
        if run is None:
            if self._not_begun(id, asker) is not None:
                self._jobs.cancel(id, asker)
            return await self.status(id, asker)
        if run.status == "running":
            run.cancel()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(run.ended.wait(), CANCEL_PATIENCE)
        return run.describe()

    def close(self) -> None:
        """Interrupt the runs in progress and save their state. Runs on the main thread, outside the
        loop."""
        for run in self._runs.values():
            if run.status == "running":
                run.interrupt()
                self._write(run.describe(), run.owner)
        self._store.close()

    # -- internals --------------------------------------------------------------------------

    def _live(self, id: str, asker: Owner) -> WorkflowRun | None:
        run = self._runs.get(id)
        return run if run is not None and may_see(run.owner, asker) else None

    def _not_begun(self, id: str, asker: Owner) -> Json | None:
        """Return the status of a run that has a job but hasn't begun, or that was refused before it
        began."""
        try:
            job = self._jobs.get(id, asker)
        except InvalidParams:
            return None
        if job.tool != RUN:
            return None
        status = job.status if job.ended else "running"
        description: Json = {"run_id": id, "status": status, "steps": []}
        if job.error is not None:
            description["message"] = job.error["message"]
        return description

    def _find(self, name: str) -> Workflow:
        by_name: dict[str, Workflow] = {}
        bare: dict[str, list[str]] = {}
        for skill in self._catalog.loaded:
            for workflow in workflows_of(skill):
                full = f"{skill.name}.{workflow.name}"
                by_name[full] = workflow
                bare.setdefault(workflow.name, []).append(full)
        if name in by_name:
            return by_name[name]
        if len(bare.get(name, ())) == 1:
            return by_name[bare[name][0]]
        if name in bare:
            raise InvalidParams(f"several workflows have this name; use {' or '.join(bare[name])}")
        near = close_matches(name, [*by_name, *bare], 5) or sorted(by_name)[:5]
        hint = f"available: {', '.join(near)}" if near else "no loaded skill has a workflow"
        broken = [
            f"; not read: {line}" for skill in self._catalog.loaded for line in not_read(skill)
        ]
        raise InvalidParams(f"unknown workflow '{name[:200]}'; {hint}{''.join(broken[:3])}")

    def _admit(self, steps: Iterable[Step], *, surely: bool = True) -> None:
        """Refuse unknown tools and missing capabilities before the first step runs."""
        for step in steps:
            if isinstance(step, ToolStep):
                tool = self._dispatcher.tools.get(step.tool)
                if surely:
                    self._dispatcher.admit(tool)
            elif isinstance(step, ParallelStep):
                for one in step.steps:
                    if self._dispatcher.tools.get(one.tool).affinity != "any":
                        raise InvalidParams(
                            f"'{one.tool}' runs on the main thread; 'parallel' needs affinity: any"
                        )
            # A branch may be skipped, and a loop may have no items, so their steps may never run.
            self._admit(substeps(step), surely=surely and isinstance(step, ParallelStep))

    async def _save(self, run: WorkflowRun) -> None:
        # A run of thousands of quick steps must not be saved thousands of times.
        if run.status == "running" and monotonic() - run.saved < SAVE_PAUSE:
            return
        async with self._writing:
            if run.status == "interrupted":
                return
            run.saved = monotonic()
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, self._write, run.describe(), run.owner)

    def _write(self, run: Json, owner: Owner) -> None:
        try:
            self._store.save(run, owner)
        except (OSError, CallboardError) as error:
            log.warning("the workflow run %s can't be saved: %s", run["run_id"], error)

    def _forget_old(self) -> None:
        ended = [id for id, run in self._runs.items() if run.status != "running"]
        for id in ended[: max(0, len(ended) - ENDED_LIMIT)]:
            del self._runs[id]


def _checked(workflow: Workflow, given: Json) -> dict[str, Any]:
    """Return the inputs with their defaults. Raises InvalidParams."""
    values = workflow.input_values(given)
    schema = {"type": "object", "properties": {i.name: dict(i.schema) for i in workflow.inputs}}
    try:
        Validator(schema, name="inputs").check(given)
    except SchemaViolation as wrong:
        raise InvalidParams(wrong.message) from None
    except BadSchema as bad:
        raise InvalidParams(
            f"the inputs of '{workflow.name}' are declared wrongly: {bad}; correct its file"
        ) from None
    return values
