"""A job's result as a resource, for results that are too large for an answer."""

from __future__ import annotations

import json

from callboard.calls.context import AsyncToolContext, call_of
from callboard.errors import InvalidParams, ResourceNotFound
from callboard.jobs.jobs import Jobs
from callboard.jobs.tools import RESULT
from callboard.service.resources import ServedResource


def job_results(jobs: Jobs) -> ServedResource:
    """Return ``job://{job_id}/result``: the answer that the job's call would have had."""

    async def result(ctx: AsyncToolContext, job_id: str) -> str | None:
        try:
            job = jobs.get(job_id, call_of(ctx).request.peer.owner)
        except InvalidParams:
            raise ResourceNotFound(RESULT.format(job_id=job_id)) from None
        return None if job.result is None else json.dumps(job.result, ensure_ascii=False)

    return ServedResource(
        RESULT,
        "job result",
        result,
        title="A job's result",
        description="The whole result of a job that has ended; jobs__status names it.",
        mime_type="application/json",
    )
