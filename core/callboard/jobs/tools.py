"""``jobs__status`` and ``jobs__cancel``: jobs for clients without the tasks extension."""

from __future__ import annotations

from typing import Any

from callboard.calls.entry import entry_of
from callboard.calls.tools import Tool
from callboard.content import Json
from callboard.jobs.jobs import Jobs

_SCHEMA: Json = {
    "type": "object",
    "properties": {
        "job_id": {"type": "string", "description": "The id that the call was answered with."}
    },
    "required": ["job_id"],
    "additionalProperties": False,
}


def job_tools(jobs: Jobs) -> list[Tool]:
    """The two tools over one server's jobs; they run on its loop."""

    async def status(job_id: str) -> Json:
        return jobs.get(job_id).describe()

    async def cancel(job_id: str) -> Json:
        return jobs.cancel(job_id).describe()

    return [
        _tool(
            "jobs__status",
            "Tells how far a job is, and its result once it has ended.",
            status,
            read_only=True,
        ),
        _tool(
            "jobs__cancel",
            "Asks a running job to stop; what it changed in the scene is put back.",
            cancel,
        ),
    ]


def _tool(name: str, description: str, function: Any, *, read_only: bool = False) -> Tool:
    entry = entry_of(function, name, name)
    return Tool(
        name=name,
        description=description,
        input_schema=_SCHEMA,
        load=lambda: entry,
        affinity="any",
        ours=True,
        annotations={"readOnlyHint": read_only, "destructiveHint": False, "openWorldHint": False},
    )
