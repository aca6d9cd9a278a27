"""Calls that are answered with a handle at once and continue without their request.

A job is a call to a tool with ``execution: async``, or a workflow. Clients with the tasks extension
poll it with ``tasks/get``; all other clients use the tools ``jobs__status`` and ``jobs__cancel``.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timezone
from time import monotonic
from typing import Literal

from callboard.changes import Changes
from callboard.clients.holder import TokenHolder
from callboard.clients.owner import Owner, may_see
from callboard.clients.shares import has_place
from callboard.content import Json
from callboard.errors import CallboardError, HostBusy, InvalidParams, MethodNotFound
from callboard.protocol.errors import MissingClientCapability
from callboard.protocol.peer import Ask, AskFailed, Peer, PeerRequest, lacks

log = logging.getLogger(__name__)

#: The extension with which a client polls long calls (2026-07-28).
TASKS = "io.modelcontextprotocol/tasks"

JobStatus = Literal["working", "input_required", "completed", "failed", "cancelled"]

#: Milliseconds for which a job is kept after its creation, and milliseconds between two polls.
TTL_MS = 3_600_000
POLL_MS = 500
#: Maximum number of jobs that are kept, and maximum number of jobs that run at once. One client may
#: run half of those.
KEPT_LIMIT = 512
RUNNING_LIMIT = 128

Work = Callable[[PeerRequest], Awaitable[Json]]


class Job:
    """One job. Runs on the server's loop."""

    def __init__(self, tool: str, owner: Owner) -> None:
        self.owner = owner
        self.id = secrets.token_urlsafe(18)
        self.tool = tool
        self.status: JobStatus = "working"
        self.created = self.updated = datetime.now(timezone.utc)
        self.expires = monotonic() + TTL_MS / 1000
        self.progress: Json | None = None
        self.result: Json | None = None
        self.error: Json | None = None
        self.questions: dict[str, Ask] = {}
        self.answers: dict[str, asyncio.Future[Json | AskFailed]] = {}
        self.work: asyncio.Task[None] | None = None
        self._changes: Changes[[Job]] = Changes()

    @property
    def ended(self) -> bool:
        return self.status in ("completed", "failed", "cancelled")

    def watch(self, listener: Callable[[Job], None]) -> Callable[[], None]:
        """Call ``listener`` with the job at every change. Return a function that removes the
        listener."""
        return self._changes.watch(listener)

    def note(self, status: JobStatus | None = None) -> None:
        """Note a change in the status or the progress: set the time and notify the listeners."""
        if status is not None:
            self.status = status
        self.updated = datetime.now(timezone.utc)
        self._changes.tell(self)

    def describe(self) -> Json:
        """Return ``{job_id, tool, status, created, updated, progress?, result?, error?}``, as
        ``jobs__status`` and REST show it."""
        entry: Json = {
            "job_id": self.id,
            "tool": self.tool,
            "status": self.status,
            "created": _stamp(self.created),
            "updated": _stamp(self.updated),
        }
        for key, value in (
            ("progress", self.progress),
            ("result", self.result),
            ("error", self.error),
        ):
            if value is not None:
                entry[key] = value
        return entry

    def as_task(self) -> Json:
        """Return the job as the tasks extension of 2026-07-28 describes it. In that revision, the
        status of a task with a result is ``completed``, even if the result is an error from the
        tool (SEP-2663, Task Status)."""
        status = "completed" if self.result is not None else self.status
        task: Json = {
            "taskId": self.id,
            "status": status,
            "createdAt": _stamp(self.created),
            "lastUpdatedAt": _stamp(self.updated),
            "ttlMs": TTL_MS,
            "pollIntervalMs": POLL_MS,
        }
        message = (self.progress or {}).get("message")
        if message:
            task["statusMessage"] = message
        if status == "completed":
            task["result"] = self.result
        elif status == "failed":
            task["error"] = self.error
        elif status == "input_required":
            task["inputRequests"] = {
                key: {"method": ask.method, "params": ask.params}
                for key, ask in self.questions.items()
            }
        return task


def knows_tasks(peer: Peer) -> bool:
    """Return whether the client declared the tasks extension and speaks a revision that supports
    it."""
    extensions = peer.capabilities.get("extensions")
    return not peer.features.sessions and isinstance(extensions, dict) and TASKS in extensions


def require_tasks(peer: Peer, method: str) -> None:
    """Raise MethodNotFound or MissingClientCapability unless the client supports tasks."""
    if peer.features.sessions:
        raise MethodNotFound(f"Method not found: '{method}'; use jobs__status")
    if not knows_tasks(peer):
        raise MissingClientCapability({"extensions": {TASKS: {}}})


class JobRequest(PeerRequest):
    """The request of a call that runs as a job. Its progress is stored in the job. Its questions
    wait in the job for an answer, or are sent to the session that the request came from."""

    def __init__(self, origin: PeerRequest, job: Job) -> None:
        super().__init__(origin.peer, origin.id, origin.method, origin.params)
        self.meta = {**self.meta, "progressToken": job.id}
        self._job = job

    @property
    def job_id(self) -> str:
        return self._job.id

    def notify(self, method: str, params: Json) -> None:
        if method == "notifications/progress":
            self._job.progress = {
                key: params[key] for key in ("progress", "total", "message") if key in params
            }
            self._job.note()

    async def ask_all(self, asks: Mapping[str, Ask]) -> dict[str, Json | AskFailed]:
        missing = [ask.method for ask in asks.values() if lacks(self.peer.capabilities, ask.needs)]
        if missing:
            why = f"the client did not declare support for {missing[0]}, so it can't be asked"
            refused = AskFailed(why)
            return dict.fromkeys(asks, refused)
        if self.peer.features.sessions:
            return {key: await self._ask_session(ask) for key, ask in asks.items()}
        if not knows_tasks(self.peer):
            # The client polls with jobs__status, which can't carry an answer back.
            unheard = AskFailed("a job can only ask a client that supports the tasks extension")
            return dict.fromkeys(asks, unheard)
        return await self._ask_poller(asks)

    async def _ask_session(self, ask: Ask) -> Json | AskFailed:
        try:
            return await self.peer.ask(ask)
        except AskFailed as refused:
            return refused

    async def _ask_poller(self, asks: Mapping[str, Ask]) -> dict[str, Json | AskFailed]:
        job, loop = self._job, asyncio.get_running_loop()
        job.questions.update(asks)
        job.answers.update((key, loop.create_future()) for key in asks)
        job.note("input_required")
        answers = [await job.answers[key] for key in asks]
        for key in asks:
            del job.answers[key]
        return dict(zip(asks, answers, strict=True))


class Jobs:
    """The jobs of one server. Runs on its loop."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def start(self, origin: PeerRequest, tool: str, work: Work) -> Job:
        """Start ``work`` and return its job. Raises HostBusy when too many jobs are running."""
        self._forget_old()
        holder = origin.peer.holder
        running = [job.owner.holder for job in self._jobs.values() if not job.ended]
        if not has_place(holder, running, RUNNING_LIMIT):
            own = running.count(holder)
            raise HostBusy(
                f"{own} of your jobs are already running; wait for one to end, or cancel one",
                data={"jobs": own},
            )
        job = Job(tool, origin.peer.owner)
        self._jobs[job.id] = job
        job.work = asyncio.get_running_loop().create_task(self._run(job, origin, work))
        return job

    def get(self, id: object, asker: Owner) -> Job:
        """Return a job. Raises InvalidParams if the job is gone, or doesn't belong to ``asker``."""
        job = self._jobs.get(id) if isinstance(id, str) else None
        if job is not None and not may_see(job.owner, asker):
            job = None
        if job is None or (job.ended and job.expires < monotonic()):
            raise InvalidParams("no such job; a job that ended is forgotten an hour after it began")
        return job

    def cancel(self, id: object, asker: Owner) -> Job:
        """Ask a job to end. A job that has ended stays as it is. Raises InvalidParams."""
        job = self.get(id, asker)
        if not job.ended and job.work is not None:
            job.work.cancel()
        return job

    def answer(self, id: object, answers: object, asker: Owner) -> None:
        """Accept a client's answers to the job's questions, each under the key of its question.
        Keys that belong to no open question are ignored. Raises InvalidParams."""
        job = self.get(id, asker)
        if not isinstance(answers, dict):
            raise InvalidParams("params.inputResponses must be an object")
        for key, value in answers.items():
            waiting = job.answers.get(key)
            if waiting is None or waiting.done():
                continue
            if not isinstance(value, dict):
                raise InvalidParams(f"the answer to '{key}' must be an object")
            waiting.set_result(value)
            job.questions.pop(key, None)
        if not job.questions and job.status == "input_required":
            job.note("working")

    def all(self) -> list[Job]:
        """Return all jobs, oldest first."""
        return list(self._jobs.values())

    def end(self, which: Callable[[TokenHolder], bool]) -> None:
        """End the jobs of the clients for which ``which`` returns True."""
        for job in self._jobs.values():
            if which(job.owner.holder) and job.work is not None:
                job.work.cancel()

    def close(self) -> None:
        for job in self._jobs.values():
            if job.work is not None:
                job.work.cancel()

    async def _run(self, job: Job, origin: PeerRequest, work: Work) -> None:
        try:
            job.result = await work(JobRequest(origin, job))
            status: JobStatus = "failed" if job.result.get("isError") else "completed"
        except asyncio.CancelledError:
            status = "cancelled"
        except CallboardError as error:
            job.error = {"code": error.code, "message": error.message}
            if error.data is not None:
                job.error["data"] = error.data
            status = "failed"
        except Exception:
            log.exception("the job for %s failed", job.tool)
            job.error = {"code": -32603, "message": "internal error; the log has the details"}
            status = "failed"
        job.questions.clear()
        job.note(status)

    def _forget_old(self) -> None:
        now = monotonic()
        ended = [job for job in self._jobs.values() if job.ended]
        surplus = len(self._jobs) - KEPT_LIMIT
        if surplus > 0:
            # The jobs of the client with the most jobs are dropped first.
            had = Counter(job.owner.holder for job in ended)
            ended.sort(key=lambda job: -had[job.owner.holder])
        for number, job in enumerate(ended):
            if job.expires < now or number < surplus:
                del self._jobs[job.id]


def _stamp(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
