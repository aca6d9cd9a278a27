"""The only way to run a tool. MCP, REST, jobs and workflows all use it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from callboard.calls import results
from callboard.calls.batch_tool import BatchTool
from callboard.calls.breakpoints import untimed
from callboard.calls.call import Call, RunningCalls
from callboard.calls.call_workers import CallWorkers
from callboard.calls.capabilities import Capabilities
from callboard.calls.change_history import ChangeBook
from callboard.calls.client_questions import READ_RESOURCE, ROUND_LIMIT, InputNeeded
from callboard.calls.consent import ConsentDesk
from callboard.calls.context import ToolContext
from callboard.calls.entry import Entry
from callboard.calls.invisible import meant
from callboard.calls.json_schema import SchemaViolation
from callboard.calls.outcomes import ToolRaised, finished, made, read, run_contained, settle
from callboard.calls.recent_log import log_failure
from callboard.calls.tools import BATCH, Tool, ToolRegistry
from callboard.calls.undo_step import UndoStep
from callboard.changes import Changes
from callboard.content import Json
from callboard.errors import (
    CallboardError,
    CallCancelled,
    CallTimeout,
    HostBusy,
    InvalidParams,
    NotRecorded,
    Paused,
    PeerError,
    ResourceNotFound,
    SkillError,
)
from callboard.ground.unattended import comes_back
from callboard.guest.loop import GuestLoop
from callboard.guest.main_thread import MainThread
from callboard.guest.turn import Turn
from callboard.ports.host import Host, Work
from callboard.protocol.peer import Ask, AskFailed, InputRequired, NotDeclared, PeerRequest
from callboard.workspace.roots import RootsBook

if TYPE_CHECKING:
    from callboard.calls.batch import GatheredBatch
    from callboard.calls.call_paths import CallPaths
    from callboard.calls.coroutines import Coroutines
    from callboard.guest.way_out import WayOut

log = logging.getLogger(__name__)
T = TypeVar("T")

#: Seconds after which a call without ``timeout_hint_secs`` times out.
DEFAULT_TIMEOUT = 300.0
#: Seconds after which a script without a time limit times out in an application with a GUI.
SCRIPT_IN_A_WINDOW = 30.0
#: Seconds for sending refusals before callboard starts to check the Escape key.
_REFUSALS_FIRST = 0.05

#: Host errors that are reported as JSON-RPC errors, because no tool ran or its outcome isn't known.
HOST_REFUSALS = (HostBusy, CallTimeout, Paused, CallCancelled, NotRecorded)


class Readable(Protocol):
    """The part of a resource that a dispatcher needs."""

    @property
    def work(self) -> Tool:
        """The tool that reads the resource. The tool takes the URI's variables, and may return
        None."""


#: Returns the resource for a URI, and the URI's variables. Raises ResourceNotFound.
FindResource = Callable[[str], tuple[Readable, Mapping[str, str]]]


class Dispatcher(RunningCalls):
    """Runs calls. Use it on the server's loop, except :meth:`close`."""

    def __init__(
        self,
        host: Host,
        guest: GuestLoop,
        tools: ToolRegistry,
        capabilities: Capabilities,
        roots: RootsBook,
        find_resource: FindResource,
        *,
        platform: Callable[[Call], Any] = lambda call: None,
        default_timeout: float = DEFAULT_TIMEOUT,
    ) -> None:
        """``find_resource`` finds a resource that a tool asks to read. ``platform`` returns what
        this host offers the bundle that a call's tool came with, or None for other tools.
        ``default_timeout`` is in seconds."""
        super().__init__(host.where)
        self.host = host
        self.tools = tools
        self.capabilities = capabilities
        self.roots = roots
        self.main = MainThread(guest)
        self.default_timeout = default_timeout
        self.changed = ChangeBook()
        if host.undo is not None:
            host.undo.stepped.watch(self.changed.undone)
        self.changes_ended.watch(self.changed.call_ended)
        self.consent = ConsentDesk(host.where, tools)
        self.on_loop: Callable[..., Any] = guest.loop.call_soon_threadsafe
        self.platform = platform
        #: Called with a resource's URI when a tool reports that the resource has changed.
        self.resource_updated: Changes[[str]] = Changes()
        self._find_resource = find_resource
        self._guest = guest
        self.workers = CallWorkers()
        guest.on_away = self._main_is_away
        #: The modules needed for requests that end a call. They are loaded once a call holds the
        #: main thread of an application with a GUI.
        self.ends: Sequence[str] = ()

    @cached_property
    def _paths(self) -> CallPaths:
        # This is needed only for calls that touch files.
        from callboard.calls.call_paths import CallPaths

        return CallPaths(self.host, self.roots, self.consent, self.workers)

    @cached_property
    def _coroutines(self) -> Coroutines:
        from callboard.calls.coroutines import Coroutines  # Few tools are coroutines.

        return Coroutines(self._guest.loop, self.main)

    @cached_property
    def _way_out(self) -> WayOut:
        from callboard.guest.way_out import WayOut  # This is needed only for calls that take long.

        return WayOut(self._guest, self.main, self.release, self.ends)

    def _main_is_away(self) -> None:
        self.main.refuse_behind_script()
        self.main.say_waiting()
        if not self.host.identity.headless:
            # Refusals are sent first, because it takes a while to start checking the Escape key.
            self._guest.loop.call_later(_REFUSALS_FIRST, lambda: self._way_out.begin())

    def release(self) -> tuple[Turn | None, list[Call]]:
        """End the running calls and whatever holds the main thread, on the artist's behalf. Return
        the turn that holds it, if any, and the calls that were ended."""
        held, ended = self.main.running, self.end_running()
        if held is not None:
            self.main.cancel(held)  # The turn's call may have timed out long ago.
        return held, ended

    async def call(
        self, request: PeerRequest, tool: Tool, arguments: Json, intent: str | None = None
    ) -> Json:
        """Return a ``tools/call`` result. Raises CallboardError for problems that JSON-RPC reports
        as errors: missing capabilities, paths outside the workspace, a busy or paused host."""
        with self._counted(Call(tool, meant(arguments), request, self)) as call:
            call.intent, call.shape = intent, made
            try:
                result = self._checked(tool, await self._perform(call))
            except InvalidArguments as wrong:
                # An execution error, so that the model sees it and can fix its call (2025-11-25,
                # Tools, Error Handling).
                result = results.failure(wrong.message)
                results.add_meta(result, {"callboard/code": wrong.code})
            except AskFailed as refused:
                result = results.raised(refused)
                if isinstance(refused, NotDeclared):
                    results.add_meta(result, refused.data or {})
            except (PeerError, InputRequired, *HOST_REFUSALS):
                raise
            except ToolRaised as error:
                result = error.result
            except Exception as error:
                result = results.raised(error)
            call.result = self._finish(call, result)
            return call.result

    async def value(self, request: PeerRequest, work: Tool, arguments: Json) -> Any:
        """Return the value of ``work``, a prompt's or a resource's function, or raise its error."""
        with self._counted(Call(work, meant(arguments), request, self)) as call:
            call.shape = read
            try:
                return await self._perform(call)
            except (CallboardError, InputRequired):
                raise
            except Exception as error:
                log.warning("%s failed", work.name, exc_info=True)
                raise SkillError(f"{work.name} failed: {_in_a_word(error)}") from None

    def admit(self, tool: Tool) -> None:
        """Check that the host offers what the tool needs, and that calls aren't paused. Every call
        passes this check first. Raises CapabilityMissing, Paused or HostOffline."""
        self.require_on()
        if tool.required_capabilities:
            self.capabilities.check(tool.name, tool.required_capabilities, tool.ships)
        if self.paused:
            self.require_going()

    async def _perform(self, call: Call) -> Any:
        tool = call.tool
        self.admit(tool)
        try:
            tool.check(call.arguments)
        except SchemaViolation as wrong:
            raise InvalidArguments(f"invalid arguments for {tool.name}: {wrong}") from None
        call.time_limit = tool.time_limit(call.arguments)
        if isinstance(tool, BatchTool):
            tool = await self._gather(call)
        elif self._takes_paths(tool):
            needed = await self._needs_roots(call)
            await self._paths.find_roots(call, needed, self._asking)
            await self._in_time(call, self._paths.resolve(call))
        if tool.concerned or call.leaves_roots:
            await self._ask_artist(call)
        elif self.activity.watched:
            self.activity.tell()
        for _ in range(ROUND_LIMIT):
            if self.paused:  # The artist may have paused callboard while a person was being asked.
                self.require_going()
            if self.begins is not None:
                self.begins(call)
            try:
                return await self._in_time(call, self._run(call))
            except InputNeeded as needed:
                await self._answer(call, needed.asks)
                call.changes_begun = False
        raise SkillError(
            f"{tool.name} asked its client {ROUND_LIMIT} times, which is the maximum for one call"
        )

    async def _gather(self, call: Call) -> GatheredBatch:
        """Admit each call in a batch call before the first one runs."""
        from callboard.calls.batch import gather, require_plain  # Most sessions run no batch.

        tool = call.tool = gather(call, self.tools, self.admit, self)
        call.time_limit = tool.time_limit(call.arguments)
        for inner in tool.inner:
            inner.task = call.task
            if not inner.tool.has_entry:
                await self._in_time(call, self._load(inner))
        require_plain(tool)
        of_paths = [inner for inner in tool.inner if self._takes_paths(inner.tool)]
        if of_paths:
            needed = any([await self._needs_roots(inner) for inner in of_paths])
            await self._paths.find_roots(call, needed, self._asking)
        for inner in of_paths:
            inner.roots = call.roots
            await self._in_time(call, self._paths.resolve(inner))
            call.leaves_roots |= inner.leaves_roots
        call.arguments = tool.shown_arguments
        return tool

    def _takes_paths(self, tool: Tool) -> bool:
        """Return whether the workspace's roots matter to calls to the tool."""
        return tool.touches_files or (
            self.roots.policy == "strict" and bool(tool.strict_paths or tool.work == "render")
        )

    def _asking(self, call: Call) -> None:
        """Note that a person is about to be asked."""
        call.state = "asking"
        if self.activity.watched:
            self.activity.tell()

    async def _ask_artist(self, call: Call) -> None:
        self._asking(call)
        await self.consent.check(call)
        if call.offer is not self.capabilities.offer:
            self.admit(call.tool)  # The person who could be asked may have left since.
        call.state = "waiting"

    async def _answer(self, call: Call, asks: dict[str, Ask]) -> None:
        """Get the answers to a tool's questions. Our own resources are read here, and all other
        answers come from the client."""
        ours = {key: ask for key, ask in asks.items() if ask.method == READ_RESOURCE}
        for key, ask in ours.items():
            call.answers[key] = await self._read_resource(call.request, ask.params["uri"])
        theirs = {key: ask for key, ask in asks.items() if key not in ours}
        if theirs:
            call.answers.update(await call.request.ask_all(theirs))

    async def _read_resource(self, request: PeerRequest, uri: str) -> str | bytes:
        resource, variables = self._find_resource(uri)
        value = await self.value(request, resource.work, dict(variables))
        if value is None:
            raise ResourceNotFound(uri)
        return value if isinstance(value, (str, bytes)) else value.content

    def seconds(self, call: Call) -> float:
        """Return the call's time limit in seconds. A script blocks the artist's application, so its
        default is shorter."""
        default = self.default_timeout
        if call.tool.concern == "script" and not self.host.identity.headless:
            default = min(default, SCRIPT_IN_A_WINDOW)
        return call.time_limit or default

    async def _in_time(self, call: Call, work: Awaitable[Any]) -> Any:
        timeout = self.seconds(call)
        timer = self._guest.loop.call_later(timeout, _expire, call)
        try:
            return await work
        except asyncio.CancelledError:
            call.cancelled = True
            if call.timed_out and not (call.paused or call.cancelled_by_artist):
                raise CallTimeout(
                    f"{call.tool.name} did not finish within {timeout:g} s. {call.becomes} "
                    "Look at the scene before you call again",
                    data={**self.main.stall(), **call.output.excerpts()},
                ) from None
            raise
        finally:
            timer.cancel()

    def _checked(self, tool: Tool, result: Json) -> Json:
        if tool.output is not None and not result["isError"]:
            try:
                tool.output.check(result.get("structuredContent"))
            except SchemaViolation as wrong:
                return results.failure(f"{tool.name} violated its own outputSchema: {wrong}")
        return result

    def _finish(self, call: Call, result: Json) -> Json:
        undo, skill = call.undo, call.tool.skill
        if failed := bool(result["isError"]):
            log_failure(call.tool.name, call.id, result, call.request.peer.owner)
        # A script that hasn't been imported yet is used as it is on disk.
        old = self.tools.why_old(skill) if skill and call.tool.has_entry else None
        if failed and old:
            results.add_text(result, old)
        if failed and call.tool.concern == "script":
            results.add_printed(result, call.output.excerpts())
        if failed and call.tool.name == BATCH:
            from callboard.calls.batch import add_outcomes

            add_outcomes(call, result)
        printed = call.output.written
        if failed or old or undo is not None or printed:
            results.add_meta(
                result,
                {
                    "callboard/call": call.id if failed else None,
                    "callboard/old": None if failed else old,
                    "callboard/stdout": (printed and call.output.text("stdout")) or None,
                    "callboard/stderr": (printed and call.output.text("stderr")) or None,
                    "callboard/undo": undo.id if undo else None,
                    "callboard/rolledBack": undo.rolled_back if undo else None,
                },
            )
        return result

    async def _needs_roots(self, call: Call) -> bool:
        """Return whether roots change what the call does."""
        if self.roots.policy == "strict" or not call.tool.paths.all_absolute(call.arguments):
            return True
        if not call.tool.has_entry:
            await self._in_time(call, self._load(call))
        return call.tool.entry.takes_workspace_roots

    # -- running ----------------------------------------------------------------------------

    async def _run(self, call: Call) -> Any:
        tool = call.tool
        if not tool.has_entry:
            await self._load(call)
        entry = tool.entry
        work = partial(self._invoke, call, entry)
        if tool.affinity == "any" and entry.kind == "function":
            return await self.workers.run(tool, run_contained, call.context.run, work)
        if tool.mutates and self.host.undo is not None:
            call.undo = UndoStep(self.host.undo, f"Callboard: {tool.name}")
        if entry.kind == "coroutine":
            return await self._coroutines.run(call)
        return await self._on_main(call, work, call.undo, tool.work)

    async def _load(self, call: Call) -> None:
        """Import the tool's script on the thread it will run on."""
        tool = call.tool
        if tool.affinity == "any":
            await self.workers.run(tool, finished, lambda: tool.entry, lambda entry: None)
        else:
            load = partial(finished, lambda: tool.entry, lambda entry: None)
            await self._on_main(call, load, None, "read")

    def _invoke(self, call: Call, entry: Entry) -> Any:
        call.state = "running"
        extra: dict[str, Any] = {}
        if entry.takes_ctx:
            extra["ctx"] = ToolContext(call)
        if entry.takes_workspace_roots:
            extra.update(entry.roots(call.visible_roots))
        return finished(partial(entry.function, **call.arguments, **extra), call.shape)

    async def _on_main(
        self, call: Call, work: Callable[[], Any], undo: UndoStep | None, kind: Work
    ) -> Any:
        future: asyncio.Future[Any] = self._guest.loop.create_future()
        done = partial(self._guest.complete, settle, future)
        name, context = call.tool.name, call.context
        context.run(comes_back.set, True)
        turn = Turn(name, work, done, transaction=undo, context=context, kind=kind, waiter=call)
        turn.owner, turn.script = call.request.peer.owner, call.tool.concern == "script"
        self.main.submit(turn)
        try:
            return await future
        except asyncio.CancelledError:
            call.cancelled = True
            self.main.cancel(turn)
            if call.timed_out and turn.started_at is None:
                raise self.main.busy(turn) from None
            raise
        finally:
            started = turn.started_at or perf_counter()
            call.queue_wait += started - turn.queued_at
            call.main_seconds += turn.main_seconds

    def close(self) -> None:
        """End all queued and running calls. Runs on the main thread, outside the loop."""
        self.closed = True
        self.activity.tell()
        self.main.abandon()
        self.workers.close()


def _expire(call: Call) -> None:
    if untimed(call.output):
        return
    call.timed_out = True
    if call.task is not None:
        call.task.cancel()


class InvalidArguments(InvalidParams):
    """The arguments don't fit the tool's input schema."""


def _in_a_word(error: Exception) -> str:
    if isinstance(error, ToolRaised):
        return str(error)
    return f"{results.name_of(error)}: {results.message_of(error)}"
