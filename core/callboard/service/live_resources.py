"""The resources that every live host offers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from itertools import islice
from time import time
from typing import Any

from callboard.calls.capabilities import Capabilities
from callboard.calls.consent import ConsentDesk
from callboard.calls.context import AsyncToolContext, BaseContext, call_of
from callboard.calls.recent_log import RecentLog
from callboard.clients.holder import TokenHolder
from callboard.clients.owner import may_see
from callboard.content import Json
from callboard.errors import InvalidParams, ResourceNotFound
from callboard.jobs.jobs import Jobs
from callboard.jobs.tools import RESULT
from callboard.ports.capability_names import FILESYSTEM_READ, SCENE_READ
from callboard.ports.host import Host
from callboard.ports.scene import ObjectNotFound
from callboard.protocol.peer import Peer
from callboard.service.resources import ServedResource
from callboard.skills.catalog import SkillCatalog
from callboard.skills.model import SKILL_FILE
from callboard.workspace.containment import WorkspaceRoots

#: Maximum number of objects listed by ``scene://current``.
SUMMARY_LIMIT = 200
JSON_TYPE = "application/json"
#: Returns the report on a client's calls since ``30m``, ``7d``, a date and so on. None means the
#: default period. Raises ValueError for anything else.
BuildReport = Callable[[str | None, TokenHolder], Awaitable[Json]]
SCENE = "scene://current"
OBJECT = "scene://object/{+name}"


def live_resources(
    host: Host,
    capabilities: Capabilities,
    catalog: SkillCatalog,
    log: RecentLog,
    left_out: Callable[[Peer], list[str]],
) -> list[ServedResource]:
    """Return ``host://capabilities``, ``host://roots``, ``log://recent`` and
    ``skill://{name}/SKILL.md``, and also ``scene://current`` and ``scene://object/{name}`` if the
    host can read its scene. ``left_out`` returns why some of a client's roots don't
    count."""

    def recent(ctx: BaseContext) -> str:
        return _text(log.entries(call_of(ctx).request.peer.owner))

    def skill_file(name: str) -> str:
        # This import is needed only when a SKILL.md is read.
        from callboard.skills.skill_files import read_text

        for known in catalog.known:
            if known.skill.name == name:
                return read_text(known.skill.path, known.skill.path / SKILL_FILE)
        raise ResourceNotFound(f"skill://{name}/SKILL.md")

    def skill_names(argument: str, typed: str) -> list[str]:
        return _starting(typed, (known.skill.name for known in catalog.known))

    resources = [
        *_host_resources(host, capabilities, left_out),
        ServedResource(
            "log://recent",
            "recent log",
            recent,
            title="Recent log",
            description="callboard's last log records, oldest first; about calls, only yours.",
            mime_type=JSON_TYPE,
        ),
        ServedResource(
            "skill://{name}/SKILL.md",
            "skill",
            skill_file,
            title="A skill's own description",
            description="SKILL.md of one skill: what it is for and how to use its tools.",
            mime_type="text/markdown",
            complete=skill_names,
        ),
    ]
    if SCENE_READ in host.ports:
        resources += _scene_resources(host)
    return resources


def _host_resources(
    host: Host, capabilities: Capabilities, left_out: Callable[[Peer], list[str]]
) -> list[ServedResource]:
    def offered() -> str:
        return _text(_offered(host, capabilities))

    def roots(ctx: BaseContext, _workspace_roots: WorkspaceRoots | None = None) -> str:
        known = () if _workspace_roots is None else _workspace_roots.roots
        folders = (root for root in known if root.path is not None)
        reported = [{"path": r.path, "name": r.name, "read_only": r.read_only} for r in folders]
        return _text({"roots": reported, "left_out": left_out(call_of(ctx).request.peer)})

    return [
        ServedResource(
            "host://capabilities",
            "capabilities",
            offered,
            title="What this host offers",
            description="Which capabilities tools can use now, and which the artist withdrew.",
            mime_type=JSON_TYPE,
        ),
        ServedResource(
            "host://roots",
            "roots",
            roots,
            title="Where you may work",
            description="The folders that your paths are held to; the first is workspace://. "
            "left_out says why roots of your client don't count.",
            mime_type=JSON_TYPE,
            required_capabilities=(FILESYSTEM_READ,),
        ),
    ]


def _offered(host: Host, capabilities: Capabilities) -> Json:
    identity = host.identity
    return {
        "host": {
            "kind": identity.kind,
            "name": identity.name,
            "version": identity.version,
            "headless": identity.headless,
        },
        **capabilities.describe(),
    }


def _scene_resources(host: Host) -> list[ServedResource]:
    names: list[str] = []

    def current(ctx: Any) -> str:
        reader = ctx.port(SCENE_READ)
        summaries = list(islice(reader.summaries(), SUMMARY_LIMIT + 1))
        names[:] = [summary["path"] for summary in summaries[:SUMMARY_LIMIT]]
        return _text(
            {
                "scene": reader.info(),
                "objects": summaries[:SUMMARY_LIMIT],
                "truncated": len(summaries) > SUMMARY_LIMIT,
            }
        )

    def one(ctx: Any, name: str) -> str:
        try:
            return _text(ctx.port(SCENE_READ).get(name))
        except ObjectNotFound:
            raise ResourceNotFound(f"scene://object/{name}") from None

    def object_names(argument: str, typed: str) -> list[str]:
        # The names that were last read, because completion can't wait for the main thread.
        return _starting(typed, names)

    return [
        ServedResource(
            SCENE,
            "scene",
            current,
            title="The open scene",
            description=f"Units, axes, file, and the first {SUMMARY_LIMIT} objects.",
            mime_type=JSON_TYPE,
            affinity="main",
            required_capabilities=(SCENE_READ,),
        ),
        ServedResource(
            OBJECT,
            "object",
            one,
            title="One object",
            description="Transform, color, bounds and hierarchy of one object of the scene.",
            mime_type=JSON_TYPE,
            affinity="main",
            required_capabilities=(SCENE_READ,),
            complete=object_names,
        ),
    ]


def _starting(typed: str, values: Any) -> list[str]:
    return [value for value in values if value.lower().startswith(typed.lower())]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def job_results(jobs: Jobs) -> ServedResource:
    """Return ``job://{job_id}/result``: the answer that the job's call would have returned."""

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


def waiting_calls(desk: ConsentDesk) -> ServedResource:
    """Return ``host://waiting``: the artist's open questions about this client's calls."""

    async def waiting(ctx: AsyncToolContext) -> str:
        asker = call_of(ctx).request.peer.owner
        reported = [
            {
                "tool": question.tool,
                "why": question.why,
                "seconds_left": max(0, round(question.deadline - time())),
            }
            for question in desk.questions.values()
            if may_see(question.owner, asker)
        ]
        return json.dumps({"waiting": reported, "where": desk.where}, ensure_ascii=False)

    return ServedResource(
        "host://waiting",
        "waiting",
        waiting,
        title="Calls that wait for the artist",
        description="Your calls that await the artist's answer, and where the artist can give it.",
        mime_type="application/json",
    )


def reports(build: BuildReport) -> ServedResource:
    """Return ``report://{since}``: the missing capabilities, failures and slow calls of this
    client."""

    async def report(ctx: AsyncToolContext, since: str) -> str:
        try:
            return _text(await build(since, call_of(ctx).request.peer.holder))
        except ValueError as error:
            raise InvalidParams(str(error)) from None

    return ServedResource(
        "report://{since}",
        "report",
        report,
        title="A report on your calls",
        description="Missing capabilities, failures and slow calls since 30m, 12h, 7d, 2w, a date, "
        "or all; only of your own calls.",
        mime_type=JSON_TYPE,
    )
