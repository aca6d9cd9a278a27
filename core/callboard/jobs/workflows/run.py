"""One run of a workflow. It performs the steps in order, keeps their results, and undoes their
changes if it doesn't complete."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from time import monotonic
from typing import Any, Literal

from callboard.calls.client_questions import elicitation, read_answer
from callboard.calls.dispatcher import Dispatcher
from callboard.content import Json
from callboard.errors import CallboardError, InvalidParams, PeerError, RefusedByArtist
from callboard.jobs.workflows.steps import RunChanges, StepRequest, call_in_time, put_back
from callboard.protocol.jsonrpc import encode
from callboard.protocol.peer import PeerRequest
from callboard.skills.workflows.workflow import (
    ApproveStep,
    BranchStep,
    FailStep,
    ForeachStep,
    ParallelStep,
    Step,
    ToolStep,
    Workflow,
    every_step,
    resolve,
)

log = logging.getLogger(__name__)

RunStatus = Literal["running", "completed", "failed", "cancelled", "interrupted"]
ReportProgress = Callable[[int, int | None, str], None]

#: Maximum number of steps in one run, counting every round of a loop.
PERFORMED_LIMIT = 10_000
#: Maximum number of bytes in one result, and in all results of a run, that the run's status shows.
RESULT_LIMIT = 32 * 1024
RESULTS_LIMIT = 4 * 1024 * 1024
_NO_FORM: Json = {"type": "object", "properties": {}}


class StepFailed(Exception):
    """Raised to end the run as failed."""


class WorkflowRun:
    """One run of a workflow, on the server's loop. ``save`` is awaited when the run begins, after
    each completed step, and when the run ends."""

    def __init__(
        self,
        id: str,
        workflow: Workflow,
        inputs: Mapping[str, Any],
        request: PeerRequest,
        dispatcher: Dispatcher,
        report: ReportProgress,
        save: Callable[[WorkflowRun], Awaitable[None]],
    ) -> None:
        self.id = id
        self.owner = request.peer.owner
        self.workflow = workflow
        self.status: RunStatus = "running"
        self.message: str | None = None
        self.changes = RunChanges()
        #: Cancels the call that runs the workflow.
        self.cancel: Callable[[], object] = lambda: None
        self.ended = asyncio.Event()
        #: The time at which the run was last saved.
        self.saved = float("-inf")
        self._scope: dict[str, Any] = {"inputs": dict(inputs)}
        self._request = request
        self._dispatcher = dispatcher
        self._report = report
        self._save = save
        self._started = self._updated = _now()
        self._steps: list[Json] = []
        self._skipped: list[str] = []
        self._undone: Json | None = None
        self._done = 0
        self._kept = 0
        looping = (ForeachStep, BranchStep)
        every = list(every_step(workflow.steps))
        known = not any(isinstance(step, looping) for step in every)
        calls = sum(isinstance(step, (ToolStep, ApproveStep)) for step in every)
        self._total = calls if known else None

    @property
    def name(self) -> str:
        return f"{self.workflow.skill}.{self.workflow.name}"

    def describe(self) -> Json:
        """Return ``{run_id, workflow, status, started, updated, steps, skipped?, message?,
        undone?}``. ``steps`` are the steps that have begun, ``{step, tool, status, attempts,
        seconds?, result?, error?}``; ``skipped`` names the steps of branches that weren't taken;
        ``undone`` is ``{steps, left}``."""
        description: Json = {
            "run_id": self.id,
            "workflow": self.name,
            "status": self.status,
            "started": self._started,
            "updated": self._updated,
            "steps": [dict(step) for step in self._steps],
        }
        if self._skipped:
            description["skipped"] = [*self._skipped]
        if self.message is not None:
            description["message"] = self.message
        if self._undone is not None:
            description["undone"] = self._undone
        return description

    async def perform(self) -> None:
        """Run to completion. ``status`` then holds the outcome. Raises CancelledError."""
        await self._save(self)
        try:
            await self._some(self.workflow.steps, self._scope, "")
        except asyncio.CancelledError:
            await self._end("cancelled", "the workflow was cancelled")
            raise
        except StepFailed as failed:
            await self._end("failed", str(failed))
        except CallboardError as error:
            await self._end("failed", error.message)
        except Exception:
            log.exception("the workflow %s failed", self.name)
            await self._end("failed", "internal error; the log has the details")
        else:
            await self._end("completed", None)

    def interrupt(self) -> None:
        """Mark the run as interrupted because the server is stopping. Call it from any thread."""
        self.status, self.message = "interrupted", "the server stopped"

    async def _end(self, status: RunStatus, message: str | None) -> None:
        if self.status == "interrupted":
            return
        if status != "completed":
            message = f"{message}; {await self._undo_everything()}"
        self.status, self.message = status, message
        self._updated = _now()
        await self._save(self)
        self.ended.set()

    async def _undo_everything(self) -> str:
        try:
            undone, left = await put_back(self._dispatcher, self.changes.take())
        except CallboardError as error:
            return f"nothing in the scene was undone: {error.message}"
        self._undone = {"steps": undone, "left": left}
        if left:
            return (
                f"{undone} of its changes were undone in the scene and {left} had to stay, because "
                "the scene was changed afterwards or the host has dropped their undo steps"
            )
        # Files that steps wrote aren't deleted.
        changes = f"all {undone} of its changes were undone in the scene"
        return changes if undone else "it had changed nothing in the scene"

    # -- steps ------------------------------------------------------------------------------

    async def _some(self, steps: tuple[Step, ...], scope: dict[str, Any], where: str) -> Json:
        """Run the steps in order. Return their results by id, which are also added to ``scope``."""
        results: Json = {}
        for step in steps:
            results[step.id] = scope[step.id] = await self._one(step, scope, where)
            if isinstance(step, ParallelStep):
                scope.update(scope[step.id])
        return results

    async def _one(self, step: Step, scope: dict[str, Any], where: str) -> Any:
        if isinstance(step, ToolStep):
            return await self._tool(step, scope, where)
        if isinstance(step, ForeachStep):
            return await self._foreach(step, scope, where)
        if isinstance(step, ParallelStep):
            return await self._parallel(step, scope, where)
        if isinstance(step, BranchStep):
            return await self._branch(step, scope, where)
        if isinstance(step, FailStep):
            entry = self._enter(where + step.id, None)
            message = str(self._resolve(step.message, scope, where + step.id))
            raise self._failed(entry, {"message": message})
        return await self._approve(step, scope, where)

    async def _branch(self, step: BranchStep, scope: dict[str, Any], where: str) -> Json:
        then = step.takes_then(self._resolve(step.on, scope, where + step.id))
        self._skip((step.otherwise or ()) if then else step.then, where)
        # An agent would treat "completed" as done, so a check without an else fails the run.
        if not then and step.otherwise is None:
            raise StepFailed(
                f"{self.workflow.step_words(where + step.id, 'the check')} failed: {step.on}"
                " is not true. To continue anyway, the workflow needs else: [] there"
            )
        taken = step.then if then else step.otherwise or ()
        results = await self._some(taken, dict(scope), where)
        return {"took": "then" if then else "else", "results": results}

    def _skip(self, steps: tuple[Step, ...], where: str) -> None:
        """Add the steps to the status's list of skipped steps."""
        names = [where + step.id for step in every_step(steps)]
        self._skipped += names[: PERFORMED_LIMIT - len(self._skipped)]

    async def _foreach(self, step: ForeachStep, scope: dict[str, Any], where: str) -> list[Json]:
        items = self._resolve(step.items, scope, where + step.id)
        if not isinstance(items, list):
            raise StepFailed(
                f"{self.workflow.step_words(where + step.id)} needs a list to loop over"
            )
        results = []
        for index, item in enumerate(items):
            inner = {**scope, step.variable: item}
            results.append(await self._some(step.steps, inner, f"{where}{step.id}[{index}]."))
        return results

    async def _parallel(self, step: ParallelStep, scope: dict[str, Any], where: str) -> Json:
        loop = asyncio.get_running_loop()
        tasks = {one.id: loop.create_task(self._tool(one, scope, where)) for one in step.steps}
        try:
            await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_EXCEPTION)
        finally:
            # The other tasks must not continue after one has failed.
            for task in tasks.values():
                task.cancel()
            await asyncio.wait(tasks.values())
        errors = [t.exception() for t in tasks.values() if not t.cancelled()]
        for error in errors:
            if error is not None:
                raise error
        return {id: task.result() for id, task in tasks.items()}

    async def _approve(self, step: ApproveStep, scope: dict[str, Any], where: str) -> Json:
        entry = self._enter(where + step.id, None)
        question = str(self._resolve(step.message, scope, where + step.id))
        ask = elicitation(question, _NO_FORM)
        request = StepRequest(self._request, where + step.id, self.changes)
        try:
            with _timed(entry):
                answer = read_answer(ask, (await request.ask_all({"approve": ask}))["approve"])
                if not answer.accepted:
                    raise RefusedByArtist("it was not approved")
        except CallboardError as error:
            raise self._failed(entry, _error(error)) from None
        await self._passed(entry, {"approved": True})
        return {"approved": True}

    async def _tool(self, step: ToolStep, scope: dict[str, Any], where: str) -> Any:
        entry = self._enter(where + step.id, step.tool)
        arguments = self._resolve(step.args, scope, where + step.id)
        with _timed(entry):
            for attempt in range(1, step.retry.attempts + 1):
                if attempt > 1:
                    await asyncio.sleep(step.retry.delay_before(attempt))
                entry["attempts"] = attempt
                request = StepRequest(self._request, where + step.id, self.changes)
                self._report(self._done, self._total, f"{where}{step.id}: {step.tool}")
                try:
                    result = await call_in_time(self._dispatcher, request, step, arguments)
                except CallboardError as error:
                    failure, final = _error(error), isinstance(error, PeerError)
                else:
                    if not result["isError"]:
                        value = _value(result)
                        await self._passed(entry, value)
                        return value
                    failure, final = {"message": _text(result)}, False
                # A failed attempt may have changed the scene, and the next attempt must not find
                # those changes.
                _, left = await put_back(self._dispatcher, self.changes.take(request))
                if final or left:
                    break
        raise self._failed(entry, failure)

    # -- status -----------------------------------------------------------------------------

    def _resolve(self, value: Any, scope: Mapping[str, Any], where: str) -> Any:
        try:
            return resolve(value, scope)
        except InvalidParams as error:
            raise StepFailed(f"{self.workflow.step_words(where)}: {error.message}") from None

    def _enter(self, where: str, tool: str | None) -> Json:
        if len(self._steps) >= PERFORMED_LIMIT:
            raise StepFailed(f"a workflow can perform at most {PERFORMED_LIMIT} steps; split it")
        entry: Json = {"step": where, "tool": tool, "status": "running", "attempts": 1}
        self._steps.append(entry)
        self._updated = _now()
        return entry

    async def _passed(self, entry: Json, value: Any) -> None:
        entry["status"] = "completed"
        size = len(encode(value))
        if size > RESULT_LIMIT or self._kept + size > RESULTS_LIMIT:
            entry["result"] = {"left_out": f"{size} bytes"}
        else:
            self._kept += size
            entry["result"] = value
        self._done += 1
        self._updated = _now()
        self._report(self._done, self._total, f"{entry['step']} done")
        await self._save(self)

    def _failed(self, entry: Json, failure: Json) -> StepFailed:
        entry["status"], entry["error"] = "failed", failure
        self._updated = _now()
        return StepFailed(f"{self.workflow.step_words(entry['step'])} failed: {failure['message']}")


@contextmanager
def _timed(entry: Json) -> Iterator[None]:
    """Note how long a step took, and whether it was cancelled."""
    began = monotonic()
    try:
        yield
    except asyncio.CancelledError:
        entry["status"] = "cancelled"
        raise
    finally:
        entry["seconds"] = round(monotonic() - began, 3)


def _value(result: Json) -> Any:
    """Return the part of a result that later steps see: its structured content, or else its
    text."""
    return result.get("structuredContent", {"text": _text(result)})


def _text(result: Json) -> str:
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def _error(error: CallboardError) -> Json:
    entry: Json = {"code": error.code, "message": error.message}
    return entry if error.data is None else {**entry, "data": error.data}


def _now() -> str:
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    return now.replace("+00:00", "Z")
