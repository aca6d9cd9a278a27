"""The tools ``jobs__status`` and ``jobs__cancel``, for clients without the tasks extension."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from typing import Any, Literal

from callboard.calls.context import AsyncToolContext, call_of
from callboard.calls.entry import entry_of
from callboard.calls.tools import Tool
from callboard.content import Image, Json, ResourceLink, Result
from callboard.jobs.jobs import Job, Jobs
from callboard.protocol.jsonrpc import encode

#: Maximum number of seconds that one call waits for a job. Clients abandon a call after 60.
LONGEST_WAIT = 50
#: Maximum number of bytes in a result that a job's status shows. A larger result is offered as a
#: resource.
RESULT_LIMIT = 32 * 1024
#: The tool that reports a job's status.
STATUS = "jobs__status"
#: The resource for a job's result.
RESULT = "job://{job_id}/result"
#: Hints for the server's own tools: their changes can be reversed and stay within the host.
CHANGES: Json = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
READS: Json = {**CHANGES, "readOnlyHint": True}
_JOB: Json = {"type": "string", "description": "The job_id with which the call was answered."}
_STATUS_SCHEMA: Json = {
    "job_id": _JOB,
    "wait_s": {
        "type": "number",
        "minimum": 0,
        "maximum": LONGEST_WAIT,
        "default": 0,
        "description": "Wait for the job's end, at most this many seconds.",
    },
    "whole": {
        "type": "boolean",
        "default": False,
        "description": "Include a large result, which is otherwise a resource.",
    },
}


def job_tools(jobs: Jobs) -> list[Tool]:
    """Return the two tools for one server's jobs. They run on its loop."""

    async def status(
        ctx: AsyncToolContext, job_id: str, wait_s: float = 0, whole: bool = False
    ) -> Json | Result:
        job = jobs.get(job_id, call_of(ctx).request.peer.owner)
        if wait_s > 0:
            await _wait(job, wait_s, ctx)
        return job.describe() if whole else _shown(job)

    async def cancel(ctx: AsyncToolContext, job_id: str) -> Json:
        return jobs.cancel(job_id, call_of(ctx).request.peer.owner).describe()

    return [
        own_tool(
            STATUS,
            "Returns a job's status, and its result once it has ended. With wait_s it waits for "
            "the end, so you needn't poll.",
            _STATUS_SCHEMA,
            status,
            required=("job_id",),
            hints=READS,
        ),
        own_tool(
            "jobs__cancel",
            "Asks a running job to stop; its changes to the scene are undone.",
            {"job_id": _JOB},
            cancel,
            required=("job_id",),
        ),
    ]


async def _wait(job: Job, seconds: float, ctx: AsyncToolContext) -> None:
    """Wait until the job has ended or asks a question, or until the time is up. The job's progress
    is passed on to the caller. Runs on the server's loop, on which jobs also change."""
    changed = asyncio.Event()

    def heard(job: Job) -> None:
        if job.status != "working":
            changed.set()
        elif job.progress is not None:
            seen = job.progress
            ctx.progress(seen["progress"], seen.get("total"), seen.get("message"))

    stop = job.watch(heard)
    try:
        if job.status == "working":
            await asyncio.wait_for(changed.wait(), seconds)
    except asyncio.TimeoutError:
        return
    finally:
        stop()


def _shown(job: Job) -> Json | Result:
    """Return the job with its pictures as images, because a client can't see them as text."""
    content = (job.result or {}).get("content", [])
    pictures = [block for block in content if block.get("type") == "image"]
    described, links = _short(job, pictures)
    if not pictures and not links:
        return described
    images = [Image(b64decode(each["data"]), each["mimeType"]) for each in pictures]
    return Result([json.dumps(described, ensure_ascii=False), *links, *images], described)


def _short(job: Job, without: list[Json]) -> tuple[Json, list[ResourceLink]]:
    """Return the job, leaving the blocks in ``without`` out of its result. If the result is still
    large, replace it with a link."""
    described = job.describe()
    if job.result is None:
        return described, []
    content = [each for each in job.result.get("content", []) if each not in without]
    described["result"] = {**job.result, "content": content} if without else job.result
    if len(encode(described["result"])) <= RESULT_LIMIT:
        return described, []
    del described["result"]
    uri = RESULT.format(job_id=job.id)
    described["result_link"] = {"uri": uri, "bytes": len(encode(job.result))}
    described["next"] = "read the resource, or call jobs__status again with whole: true"
    link = ResourceLink(uri, f"result of {job.tool}", mime_type="application/json")
    return described, [link]


def own_tool(
    name: str,
    description: str,
    properties: Json,
    function: Any,
    *,
    required: tuple[str, ...] = (),
    hints: Json = CHANGES,
    capabilities: tuple[str, ...] = (),
    execution: Literal["sync", "async"] = "sync",
    timeout_secs: float | None = None,
) -> Tool:
    """Return one of the server's own tools. ``function`` runs on the server's loop."""
    entry = entry_of(function, name, name)
    return Tool(
        name=name,
        description=description,
        input_schema={
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        },
        load=lambda: entry,
        required_capabilities=capabilities,
        affinity="any",
        ours=True,
        execution=execution,
        timeout_secs=timeout_secs,
        annotations=hints,
    )
