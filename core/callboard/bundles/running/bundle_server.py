"""Starts a bundle's own server, lists its tools, calls it, and restarts it when it dies."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from callboard.bundles.files.host_resources import CAPABILITY, METHODS, too_busy
from callboard.bundles.files.workspaces import Workspaces
from callboard.bundles.installed.install import InstalledBundle
from callboard.bundles.installed.skill_check import command_of, trouble_here
from callboard.bundles.running.caller import Caller
from callboard.bundles.running.callers import Callers
from callboard.bundles.running.child_process import ChildProcess, environment
from callboard.bundles.running.errors import BundleError, Refused
from callboard.bundles.running.listed_resources import (
    AskServer,
    ListedResource,
    prompts_of,
    resources_of,
)
from callboard.bundles.running.listed_tools import result_of, tools_of
from callboard.bundles.running.paged_lists import ListKey, listed
from callboard.bundles.running.workspace_processes import WorkspaceProcesses
from callboard.calls.client_questions import ROUND_LIMIT
from callboard.calls.context import AsyncToolContext, call_of
from callboard.calls.tools import Tool
from callboard.content import Json
from callboard.errors import SkillError
from callboard.ground.version import __version__
from callboard.protocol import jsonrpc
from callboard.protocol.conversation import Conversation, Unanswered
from callboard.protocol.handshake import Dialect, open_talk
from callboard.protocol.peer import InputRequired
from callboard.skills.prompts.registry import FunctionPrompt
from callboard.workspace.containment import WorkspaceRoots
from callboard.workspace.roots import RootsBook

L = TypeVar("L")
log = logging.getLogger(__name__)

#: Seconds before a server that died is restarted. The pause starts at ``FIRST_PAUSE`` and doubles
#: each time, up to ``LONGEST_PAUSE``.
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
#: Seconds that a server must run before the pause is reset to ``FIRST_PAUSE``.
HEALTHY = 60.0
#: Seconds that a call waits for a server that is being started.
PATIENCE = 15.0
LIST_CHANGED = tuple(
    f"notifications/{kind}/list_changed" for kind in ("tools", "prompts", "resources")
)
#: Maximum seconds to wait for a server to read changed roots before it is called.
ROOTS_PATIENCE = 2.0
_CLIENT = {"name": "callboard", "version": __version__}


class BundleServer:
    """One bundle's server. Make and use it on the loop.

    ``changed`` is called when the tools change. ``opened`` is a future. Its result is None if the
    first start succeeded, or else the reason why it failed.
    """

    def __init__(
        self,
        bundle: InstalledBundle,
        book: RootsBook,
        workspaces: Workspaces,
        changed: Callable[[], None] | None,
        roots: Callable[[], WorkspaceRoots] | None = None,
    ) -> None:
        """``roots`` returns the roots that the process sees outside calls, by default the host's
        own. ``changed`` is None for an additional process of a bundle, which serves the clients of
        a different workspace. The tools of such a process aren't listed."""
        self.bundle = bundle
        self.tools: list[Tool] = []
        self.prompts: list[FunctionPrompt] = []
        self.resources: list[ListedResource] = []
        #: The reason why the server isn't running, or None while it is.
        self.problem: str | None = "it is being started"
        loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[str | None] = loop.create_future()
        self._book = book
        self._workspaces = workspaces
        self._changed = changed
        self._roots = roots or self._own_roots
        self._callers = Callers(bundle.name, workspaces, self._roots)
        self._processes = (
            None if changed is None else WorkspaceProcesses(self, self._make_process, workspaces)
        )
        self._connection: Conversation | None = None
        self._talk: Dialect | None = None
        self._process: ChildProcess | None = None
        self._handing_out = asyncio.Lock()
        self._ready = asyncio.Event()
        self._relisting: asyncio.Task[None] | None = None
        self._task = loop.create_task(self._supervise())

    @property
    def name(self) -> str:
        return self.bundle.name

    @property
    def wants_files(self) -> bool:
        """True when the bundle requests the host's files."""
        return CAPABILITY in self.bundle.manifest.capabilities

    async def close(self) -> None:
        """End the process and whatever it is doing."""
        if self._processes is not None:
            await self._processes.close()
        self._task.cancel()
        await asyncio.wait([self._task])
        if not self.opened.done():
            self.opened.set_result("it was stopped")

    def _own_roots(self) -> WorkspaceRoots:
        book = self._book
        return book.seen_by(None)

    def _make_process(self, roots: Callable[[], WorkspaceRoots]) -> BundleServer:
        return BundleServer(self.bundle, self._book, self._workspaces, None, roots)

    @property
    def workspace(self) -> str:
        """The workspace of the roots that the process sees outside calls."""
        return self._workspaces.name(self._roots())

    async def roots_changed(self) -> bool:
        """Notify the process that its roots have changed. If the process has read its roots before,
        wait briefly until it has read them again. Return False if it may still be using the old
        roots."""
        connection, talk = self._connection, self._talk
        if connection is None or talk is None:
            return False  # The process is starting, and may have read the old roots.
        if talk.stateless:
            return True
        reported = self._callers.expect_roots()
        connection.notify("notifications/roots/list_changed")
        if reported is not None:
            await asyncio.wait([reported], timeout=ROOTS_PATIENCE)
        return reported is None or reported.done()

    # -- running ----------------------------------------------------------------------------------

    async def _supervise(self) -> None:
        loop = asyncio.get_running_loop()
        pause = FIRST_PAUSE
        while True:
            began = loop.time()
            try:
                why = await self._run()
            except (SkillError, OSError) as error:
                why = error.message if isinstance(error, SkillError) else _why_not_started(error)
            if not self.opened.done():
                self.opened.set_result(why)
            if loop.time() - began > HEALTHY:
                pause = FIRST_PAUSE
            self.problem = why
            log.warning("bundle '%s' %s; it will be restarted in %g s", self.name, why, pause)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _run(self) -> str:
        """Run the server once until it ends, and return the reason why it ended. Raises SkillError
        or OSError."""
        process = await self._start()
        ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        connection = Conversation(
            lambda message: process.send(jsonrpc.encode(message)),
            self._asked,
            self._notified,
            refused=Refused,
            lost=BundleError,
            busy=too_busy,
        )
        self._process = process
        process.start_on_loop(connection.received, partial(_settle, ended))
        try:
            self._talk = await self._unless_it_ends(ended, self._open(connection))
            self._connection = connection
            self.problem = None
            self._ready.set()
            if not self.opened.done():
                self.opened.set_result(None)
            return await ended
        finally:
            self._ready.clear()
            self._connection = self._talk = self._process = None
            if self._relisting is not None:
                self._relisting.cancel()
            if ended.done() and not ended.cancelled():
                why, then = (
                    ended.result(),
                    "Check, then call again: the bundle is being restarted",
                )
            else:
                why, then = "was stopped", "Check, and see tools/list for what is served now"
            connection.lose(
                f"bundle '{self.name}' {why} during the call; whether the call took effect isn't "
                f"known. {then}"
            )
            await asyncio.shield(asyncio.to_thread(process.stop))

    async def _unless_it_ends(
        self, ended: asyncio.Future[str], work: Awaitable[Dialect]
    ) -> Dialect:
        opening = asyncio.ensure_future(work)
        waiting: set[asyncio.Future[Any]] = {opening, ended}
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                raise BundleError(ended.result())
            return opening.result()
        finally:
            opening.cancel()
            await asyncio.wait([opening])
            if not opening.cancelled():
                opening.exception()  # The waiting caller already has the error.

    async def _start(self) -> ChildProcess:
        if trouble := await asyncio.to_thread(trouble_here, self.bundle):
            raise BundleError(f"isn't started: {trouble}")
        command, additions = command_of(self.bundle)
        # The process runs outside the version's folder, because Windows can't remove a folder in
        # use.
        home = self.bundle.folder.parent.parent.parent
        env = environment(additions)
        start = partial(ChildProcess, self.name, command, env, home, lambda: self._callers.served)
        starting = asyncio.ensure_future(asyncio.to_thread(start))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The server was stopped while it was starting, so the process may still appear.
            with suppress(OSError):
                await asyncio.to_thread((await starting).stop)
            raise

    async def _open(self, connection: Conversation) -> Dialect:
        capabilities: Json = {
            "roots": {"listChanged": True},
            "elicitation": {"form": {}, "url": {}},
            "sampling": {},
            "extensions": self._workspaces.extensions(),
        }
        talk = await open_talk(connection, _CLIENT, capabilities)
        if self._changed is not None:
            await self._list(connection, talk)
        return talk

    async def _list(self, connection: Conversation, talk: Dialect) -> None:
        entries = await listed(connection, talk, "tools")
        # Schemas are compiled here, and they may be large.
        self.tools = await asyncio.to_thread(
            tools_of, self.name, self.bundle.folder, entries, self._call
        )
        self.prompts = await self._offered(connection, talk, "prompts", prompts_of)
        templates = await self._offered(connection, talk, "resourceTemplates", resources_of)
        self.resources = [
            *await self._offered(connection, talk, "resources", resources_of),
            *templates,
        ]
        if self._changed is not None:
            self._changed()

    async def _offered(
        self,
        connection: Conversation,
        talk: Dialect,
        key: ListKey,
        read: Callable[[str, list[Any], AskServer], list[L]],
    ) -> list[L]:
        """Return the server's prompts or resources, or an empty list when it can't list them."""
        if not talk.offers("prompts" if key == "prompts" else "resources"):
            return []
        try:
            return read(self.name, await listed(connection, talk, key), self._for_call)
        except BundleError as error:
            log.warning("bundle '%s' %s", self.name, error.message)
            return []

    # -- calls ------------------------------------------------------------------------------------

    async def _call(self, ctx: AsyncToolContext, tool: str, arguments: Json) -> Any:
        params = {"name": tool, "arguments": arguments}
        return result_of(await self._for_call(ctx, "tools/call", params))

    async def _for_call(self, ctx: AsyncToolContext, method: str, params: Json) -> Json:
        """Return the server's answer to a request for one of our calls."""
        _, talk = await self._connected(method)
        call = call_of(ctx)
        roots = call.roots
        if roots is None:
            roots = await self._book.of(call.request, needed=self.wants_files)
        caller = Caller(call, roots, self.name, self._book, self._workspaces)
        if talk.stateless or self._processes is None:
            return await self.perform(caller, method, params)
        # In a session, a question doesn't identify the call that it is for, so each workspace needs
        # its own process.
        async with self._processes.worker(caller) as server:
            return await server.perform(caller, method, params)

    async def perform(self, caller: Caller, method: str, params: Json) -> Json:
        """Send a request to this process. Raises BundleError, CallboardError or InputRequired."""
        connection, talk = await self._connected(method)
        meta = {**talk.meta(caller.capabilities, caller.call.request.peer.log_level)}
        meta.update(caller.call.trace)
        answers: Json = {}
        for _ in range(ROUND_LIMIT):
            id = connection.next_id()
            sent = {**params, **answers, "_meta": {**meta, "progressToken": id}}
            with self._callers.waiting(id, caller):
                answer = await connection.request(method, sent, id=id)
            kind = answer.get("resultType", "complete")
            if kind == "complete":
                return answer
            if kind != "input_required":
                raise BundleError(
                    f"the bundle answered with the unknown result type {str(kind)[:40]!r}"
                )
            answers = await caller.answers(answer)
        raise BundleError(
            f"the bundle asked {ROUND_LIMIT} times, which is the maximum for one call"
        )

    async def _connected(self, method: str) -> tuple[Conversation, Dialect]:
        if not self._ready.is_set():
            try:
                await asyncio.wait_for(self._ready.wait(), PATIENCE)
            except asyncio.TimeoutError:
                raise BundleError(
                    f"bundle '{self.name}' isn't running, so {method} wasn't sent: {self.problem}. "
                    "Try again later, or tell the artist to look at the log"
                ) from None
        assert self._connection is not None
        assert self._talk is not None
        return self._connection, self._talk

    # -- the server's questions and notifications -------------------------------------------------

    async def _asked(self, method: str, params: Json) -> Json:
        # Decide now whom the question is for: a moment later another client's call may be running.
        id, caller = self._callers.asking(method)
        if method in METHODS and self._process is not None:
            # Files are large: each file is read only after the previous one has been sent, however
            # many are requested at once.
            async with self._handing_out:
                await self._process.written()
                return await self._answer(method, params, id, caller)
        return await self._answer(method, params, id, caller)

    async def _answer(self, method: str, params: Json, id: int, caller: Caller | None) -> Json:
        try:
            if caller is None:
                answer = await self._callers.answer_own(method, params)
            else:
                answer = await caller.answer(method, params)
            self._callers.notified(method)
            return answer
        except InputRequired as needed:
            # The client's next request contains the answer, after which the tool is called again.
            # This run doesn't get an answer, so that it does nothing more while the server cancels
            # it.
            if self._connection is not None:
                self._connection.interrupt(id, needed)
            raise Unanswered from None

    def _notified(self, method: str, params: Json) -> None:
        if method == "notifications/progress":
            self._callers.progress(params)
        elif method == "notifications/message":
            self._callers.log(params)
        elif method in LIST_CHANGED:
            idle = self._relisting is None or self._relisting.done()
            if idle and self._ready.is_set():
                self._relisting = asyncio.get_running_loop().create_task(self._list_again())

    async def _list_again(self) -> None:
        if self._connection is not None and self._talk is not None:
            try:
                await self._list(self._connection, self._talk)
            except BundleError as error:
                log.warning("bundle '%s' %s", self.name, error.message)


def _settle(ended: asyncio.Future[str], why: str) -> None:
    if not ended.done():
        ended.set_result(why)


def _why_not_started(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "names a program that doesn't exist"
    return f"can't be started: {error.strerror or type(error).__name__}"
