"""REST under ``/v1``, for clients without MCP. It uses the same service and checks as ``/mcp``."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

from callboard.calls.invisible import shown
from callboard.clients.owner import Owner
from callboard.content import Json
from callboard.errors import CallboardBug, CallboardError, InvalidParams, MethodNotFound
from callboard.jobs.jobs import Job
from callboard.protocol.headers import TRACE, add_trace
from callboard.protocol.jsonrpc import encode
from callboard.protocol.peer import ClientInfo, Peer, UnaskableRequest
from callboard.protocol.revisions import NEWEST_WITH_SESSIONS
from callboard.rest.openapi import document
from callboard.rest.problems import (
    PROBLEM_TYPE,
    NotFound,
    Unacceptable,
    headers_for,
    problem,
    status_of,
)
from callboard.rest.routes import Parameter, ReadRequest, RestAnswer, Route, find
from callboard.rest.schemas import CALL, NAME
from callboard.service.apps import listed_for
from callboard.service.live_resources import BuildReport
from callboard.service.service import Service
from callboard.skills.catalog import SkillCatalog
from callboard.skills.prompts.prompt_set import UnknownPrompt
from callboard.skills.serving.catalog_tools import describe_skill, search_skills
from callboard.transport.http.incoming_request import IncomingRequest

log = logging.getLogger(__name__)

FEATURES = NEWEST_WITH_SESSIONS
UNASKABLE = "a REST client can't be asked; call over MCP, at /mcp"

_ids = count(1)
_NAME = Parameter("name", "The name, percent-encoded", NAME, in_path=True)
_JOB = Parameter("id", "A job_id", NAME, in_path=True)


class RestEndpoint:
    """Answers every path under ``/v1/``. Runs on the server's loop."""

    def __init__(
        self,
        instance: str,
        service: Service,
        catalog: SkillCatalog,
        build_report: BuildReport | None,
        reread_clients: Callable[[], None],
        others: Sequence[Route] = (),
    ) -> None:
        """``build_report`` is None when no records are kept. ``others`` are additional routes."""
        self._reread_clients = reread_clients
        self._instance = instance
        self._service = service
        self._catalog = catalog
        self._tasks: set[asyncio.Task[None]] = set()
        self._build_report = build_report
        self.routes = (*self._routes(), *others)

    def __call__(self, incoming: IncomingRequest) -> None:
        try:
            route = find(self.routes, incoming)
            if isinstance(route, list):
                methods = ", ".join(route)
                refused = Unacceptable(405, f"this path only accepts {methods}")
                self._fail(incoming, refused, {"Allow": methods})
                return
            asked = route.read(incoming)
        except CallboardError as error:
            self._fail(incoming, error)
            return
        task = asyncio.get_running_loop().create_task(self._answer(route, asked))
        # The loop keeps only weak references; a task without another reference may vanish.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        incoming.on_gone = task.cancel

    async def _answer(self, route: Route, asked: ReadRequest) -> None:
        incoming = asked.incoming
        try:
            answer = await route.handler(asked)
        except CallboardError as error:
            self._fail(incoming, error)
        except (Exception, SystemExit, KeyboardInterrupt):
            log.exception("%s %s failed", incoming.method, incoming.path)
            self._fail(incoming, CallboardBug("internal error; the log has the details"))
        else:
            if answer is not None:
                incoming.on_gone = None
                status, value = answer
                incoming.respond_json(status, value, headers_for(status))

    @staticmethod
    def _fail(
        incoming: IncomingRequest, error: CallboardError, headers: Mapping[str, str] | None = None
    ) -> None:
        incoming.on_gone = None
        status = status_of(error)
        incoming.respond(
            status, encode(problem(error)), PROBLEM_TYPE, {**headers_for(status), **(headers or {})}
        )

    def _routes(self) -> tuple[Route, ...]:
        return (*self._call_routes(), *self._look_up_routes(), *self._job_routes())

    def _call_routes(self) -> tuple[Route, ...]:
        return (
            Route("GET", "/v1/healthz", "This server's identity", self._health, {200: "Health"}),
            Route(
                "GET",
                "/v1/readyz",
                "Readiness of the host's main thread",
                self._ready,
                {200: "Readiness", 503: "Readiness"},
            ),
            Route(
                "POST",
                "/v1/clients/look",
                "Reread the clients",
                self._recheck,
                {200: "Looked"},
            ),
            Route("GET", "/v1/tools", "Every tool", self._list_tools, {200: "Tools"}),
            Route("GET", "/v1/tools/{name}", "One tool", self._get_tool, {200: "Tool"}, (_NAME,)),
            Route(
                "POST",
                "/v1/call",
                "Call a tool",
                self._call,
                {200: "CallResult"},
                body=CALL,
                example={"tool": "skills__search", "arguments": {"query": "create a sphere"}},
            ),
            Route("GET", "/v1/prompts", "Every prompt", self._list_prompts, {200: "Prompts"}),
            Route(
                "GET",
                "/v1/prompts/{name}",
                "Render a prompt",
                self._get_prompt,
                {200: "RenderedPrompt"},
                (
                    _NAME,
                    Parameter(
                        "args", "The prompt's arguments, as JSON", {"type": "object"}, as_json=True
                    ),
                ),
            ),
        )

    def _look_up_routes(self) -> tuple[Route, ...]:
        return (
            Route("GET", "/v1/skills", "Every skill, loaded or not", self._skills, {200: "Skills"}),
            Route(
                "GET",
                "/v1/search",
                "Find skills and tools by what they are for",
                self._search,
                {200: "Hits"},
                (
                    Parameter(
                        "q",
                        "What you want to do, in a few words",
                        {"type": "string", "minLength": 1, "maxLength": 500},
                        required=True,
                    ),
                    Parameter(
                        "limit",
                        "Hits at most; 10 by default",
                        {"type": "integer", "minimum": 1, "maximum": 100},
                    ),
                ),
            ),
            Route(
                "GET",
                "/v1/resources",
                "Every resource and resource template",
                self._list_resources,
                {200: "Resources"},
            ),
            Route(
                "GET",
                "/v1/resources/read",
                "Read a resource",
                self._read_resource,
                {200: "Contents"},
                (Parameter("uri", "The resource's URI", NAME, required=True),),
            ),
        )

    def _job_routes(self) -> tuple[Route, ...]:
        return (
            Route("GET", "/v1/jobs/{id}", "A job's status", self._job, {200: "Job"}, (_JOB,)),
            Route("DELETE", "/v1/jobs/{id}", "Stop a job", self._stop_job, {200: "Job"}, (_JOB,)),
            Route(
                "GET",
                "/v1/jobs/{id}/events",
                "The job, now and at every change, as server-sent events",
                self._job_events,
                {200: "text/event-stream"},
                (_JOB,),
            ),
            Route(
                "GET",
                "/v1/report",
                "What was missing, what failed, what was slow",
                self._report,
                {200: "Report"},
                (Parameter("since", "30m, 12h, 7d, 2w, a date, or all", NAME),),
            ),
            Route("GET", "/v1/openapi.json", "This document", self._document, {200: "Document"}),
        )

    # -- the host ---------------------------------------------------------------------------

    async def _health(self, asked: ReadRequest) -> RestAnswer:
        kind, tools = self._service.host.identity.kind, self._service.count_tools()
        who = {"instance": self._instance, "host": kind, "version": self._service.version}
        return 200, {**who, "tools": tools, "not_kept": self._service.not_kept()}

    async def _ready(self, asked: ReadRequest) -> RestAnswer:
        facts = self._service.dispatcher.main.stall()
        paused = self._service.dispatcher.paused
        starving = self._service.dispatcher.workers.starving()
        ready = not paused and not facts["stalled_ms"] and starving is None
        if starving is not None:
            facts["starving"] = starving
        blocked_by = self._service.host.blocked_by() if facts["stalled_ms"] else None
        if blocked_by is not None:
            facts["blocked_by"] = blocked_by
        return 200 if ready else 503, {"ready": ready, "paused": paused, **facts}

    async def _recheck(self, asked: ReadRequest) -> RestAnswer:
        self._reread_clients()
        return 200, {"looked": True}

    # -- tools ------------------------------------------------------------------------------

    async def _list_tools(self, asked: ReadRequest) -> RestAnswer:
        tools: list[Json] = []
        cursor: Json = {}
        while True:
            page = await self._handle(asked, "tools/list", **cursor)
            tools += page["tools"]
            if "nextCursor" not in page:
                return 200, {"total": len(tools), "tools": tools}
            cursor = {"cursor": page["nextCursor"]}

    async def _get_tool(self, asked: ReadRequest) -> RestAnswer:
        name = asked.values["name"]
        try:
            return 200, self._service.describe_tool(name, FEATURES)
        except InvalidParams:
            hint = "see /v1/tools, or /v1/search"
            raise NotFound(f"unknown tool '{name[:200]}'; {hint}") from None

    async def _call(self, asked: ReadRequest) -> RestAnswer:
        name, arguments = asked.body["tool"], asked.body.get("arguments", {})
        try:
            return 200, await self._handle(asked, "tools/call", name=name, arguments=arguments)
        except InvalidParams as error:
            if name in self._service.tools:
                raise
            raise NotFound(error.message, data=error.data) from None

    # -- prompts and resources --------------------------------------------------------------

    async def _list_prompts(self, asked: ReadRequest) -> RestAnswer:
        self._require_prompts()
        prompts = await self._service.read_prompts()
        entries = self._service.prompts.describe(FEATURES, prompts)
        return 200, {
            "total": len(entries),
            "prompts": entries,
            "diagnostics": prompts.diagnostics(),
        }

    async def _get_prompt(self, asked: ReadRequest) -> RestAnswer:
        self._require_prompts()
        name, arguments = asked.values["name"], asked.values.get("args", {})
        try:
            return 200, await self._handle(asked, "prompts/get", name=name, arguments=arguments)
        except UnknownPrompt as error:
            raise NotFound(error.message) from None

    def _require_prompts(self) -> None:
        if not self._service.enable_prompts:
            raise MethodNotFound("prompts are turned off on this server")

    async def _list_resources(self, asked: ReadRequest) -> RestAnswer:
        offer, registry = self._service.offer, self._service.resources
        # REST clients don't declare capabilities.
        listed = listed_for({}, registry.all(templates=False))
        resources = [each.describe(FEATURES, offer) for each in listed]
        templates = [each.describe(FEATURES, offer) for each in registry.all(templates=True)]
        return 200, {"total": len(resources), "resources": resources, "templates": templates}

    async def _read_resource(self, asked: ReadRequest) -> RestAnswer:
        return 200, await self._handle(asked, "resources/read", uri=asked.values["uri"])

    # -- skills -----------------------------------------------------------------------------

    async def _skills(self, asked: ReadRequest) -> RestAnswer:
        return 200, await self._elsewhere(self._every_skill)

    def _every_skill(self) -> Json:
        catalog, offer = self._catalog, self._service.offer
        known = [describe_skill(catalog, skill, offer) for skill in catalog.known]
        failures = [failure.as_json() for failure in catalog.failures]
        return {
            "total": len(known),
            "skills": known,
            "failures": failures,
            "host_capabilities": list(catalog.host_capabilities()),
        }

    async def _search(self, asked: ReadRequest) -> RestAnswer:
        search = partial(search_skills, self._catalog, offer=self._service.offer)
        values = asked.values
        answer = await self._elsewhere(partial(search, values["q"], values.get("limit", 10)))
        return 200, {"total": len(answer["hits"]), **answer}

    @staticmethod
    async def _elsewhere(work: Callable[[], Json]) -> Json:
        # The catalog holds its lock while it reads the disk.
        reported: Json = shown(await asyncio.get_running_loop().run_in_executor(None, work))
        return reported

    # -- jobs -------------------------------------------------------------------------------

    async def _job(self, asked: ReadRequest) -> RestAnswer:
        return 200, self._find_job(asked).describe()

    async def _stop_job(self, asked: ReadRequest) -> RestAnswer:
        return 200, self._service.jobs.cancel(self._find_job(asked).id, _asker(asked)).describe()

    async def _job_events(self, asked: ReadRequest) -> RestAnswer:
        job, incoming = self._find_job(asked), asked.incoming
        if incoming.method == "HEAD":
            return 200, {}
        stream = incoming.open_stream()

        def tell(changed: Job) -> None:
            stream.send(changed.describe())
            if changed.ended:
                stream.end()

        incoming.on_gone = job.watch(tell)
        tell(job)
        return None

    def _find_job(self, asked: ReadRequest) -> Job:
        with _missing_is_404():
            return self._service.jobs.get(asked.values["id"], _asker(asked))

    # -- other routes -----------------------------------------------------------------------

    async def _report(self, asked: ReadRequest) -> RestAnswer:
        if self._build_report is None:
            raise NotFound("this server keeps no records, so it has no report")
        try:
            return 200, await self._build_report(asked.values.get("since"), asked.incoming.holder)
        except ValueError as error:
            raise InvalidParams(str(error)) from None

    async def _document(self, asked: ReadRequest) -> RestAnswer:
        return 200, document(
            self.routes, self._service.version, f"http://{asked.incoming.headers['host']}"
        )

    async def _handle(self, asked: ReadRequest, method: str, **params: Any) -> Json:
        """Return the result of the MCP method."""
        headers, holder = asked.incoming.headers, asked.incoming.holder
        agent = headers.get("user-agent", "")
        if TRACE in headers:
            add_trace(params, headers)
        peer = Peer(f"REST {holder.id}", FEATURES, ClientInfo(agent[:200] or "REST"), {}, holder)
        request = UnaskableRequest(peer, next(_ids), method, params, UNASKABLE)
        return await self._service.handle(request)


def _asker(asked: ReadRequest) -> Owner:
    return Owner(asked.incoming.holder)


@contextmanager
def _missing_is_404() -> Iterator[None]:
    """Turn a failed lookup into a 404."""
    try:
        yield
    except InvalidParams as error:
        raise NotFound(error.message, data=error.data) from None
