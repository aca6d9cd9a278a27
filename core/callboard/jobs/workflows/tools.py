"""The tools ``workflows__run``, ``workflows__status`` and ``workflows__cancel``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from callboard.calls.context import AsyncToolContext, call_of
from callboard.calls.tools import Tool
from callboard.content import Json, Result
from callboard.jobs.tools import READS, own_tool
from callboard.jobs.workflows import RUN

if TYPE_CHECKING:
    from callboard.jobs.workflows.runs import Workflows

#: Maximum number of seconds that a whole workflow may take. Each of its steps has a separate limit.
LONGEST = 7 * 86_400.0


def workflow_tools(workflows: Callable[[], Workflows]) -> list[Tool]:
    """Return the three tools for one server's workflows. ``workflows`` is called whenever a tool is
    called. The tools run on the server's loop."""

    async def run(ctx: AsyncToolContext, name: str, inputs: Json | None = None) -> Result:
        # The steps of the workflow are part of the same request.
        call = call_of(ctx)
        return await workflows().run(call, name, inputs or {}, ctx.progress)

    async def status(ctx: AsyncToolContext, run_id: str | None = None) -> Json:
        asker = call_of(ctx).request.peer.owner
        if run_id is None:
            return {"runs": await workflows().recent(asker)}
        return await workflows().status(run_id, asker)

    async def cancel(ctx: AsyncToolContext, run_id: str) -> Json:
        return await workflows().cancel(run_id, call_of(ctx).request.peer.owner)

    return [
        own_tool(
            RUN,
            "Runs a workflow of a loaded skill, step by step. Answers at once with a job_id, which "
            "is the run_id too. If a step fails or the run is cancelled, its changes to the "
            "scene are undone.",
            {
                "name": {"type": "string", "minLength": 1, "description": "skill.workflow"},
                "inputs": {"type": "object", "description": "The workflow's inputs, by name"},
            },
            run,
            required=("name",),
            execution="async",
            timeout_secs=LONGEST,
        ),
        own_tool(
            "workflows__status",
            "Returns a run's status, with every step's result so far; without run_id, your latest "
            "runs.",
            {"run_id": _RUN_ID},
            status,
            hints=READS,
        ),
        own_tool(
            "workflows__cancel",
            "Stops a run and undoes its changes to the scene.",
            {"run_id": _RUN_ID},
            cancel,
            required=("run_id",),
        ),
    ]


_RUN_ID: Json = {"type": "string", "description": "The job_id that workflows__run answered with"}
