"""Answers the client of a bridge: by the host that is there, or alone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from callboard.clients.holder import LOCAL
from callboard.content import Json
from callboard.errors import CallboardBug, CallboardError, PeerError
from callboard.protocol import jsonrpc
from callboard.protocol.jsonrpc import Id, Invalid, Notification, Request, Response
from callboard.protocol.logging_levels import set_level
from callboard.protocol.request_headers import stateless_headers
from callboard.protocol.revisions import REVISIONS
from callboard.protocol.session import INFLIGHT_LIMIT, Session, SessionEra
from callboard.protocol.stateless import StatelessEra, is_stateless
from callboard.transport.client.http import Broken, Unreachable
from callboard.transport.client.http_client import CANCELLED
from callboard.transport.http.mcp import BATCH_LIMIT
from callboard.transport.stdio.keeper import HostKeeper
from callboard.transport.stdio.lines import LINE_LIMIT
from callboard.transport.stdio.link import HostConnection, Link
from callboard.transport.stdio.listen import ALL_TOPICS, ListenStream
from callboard.transport.stdio.offline import LostServer
from callboard.transport.stdio.relay import Relay

log = logging.getLogger(__name__)

#: Seconds that requests under way get once the client has said its last.
_LAST_ANSWERS = 1.0

#: Lines as they come: bytes, None for one that is too long, EOFError at the end.
Lines = asyncio.Queue[bytes | EOFError | None]


@dataclass(eq=False)
class UnderWay:
    """A request that isn't answered yet."""

    task: asyncio.Task[Json | None]
    stateless: bool
    listens: bool
    sent: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: bool = False


@dataclass(eq=False)
class BridgedClient:
    """The client's session, as it opened it, for whichever host comes."""

    message: Json
    #: Its revision, its log level and what it watches.
    session: Session
    ready: bool = False


class Bridge:
    """Everything on one loop. ``write`` takes a message, or a batch of responses; ``client`` names
    whose token is presented, where it isn't the host's own."""

    def __init__(
        self,
        wanted: str | None,
        write: Callable[[Json | list[Json]], object],
        client: str | None = None,
    ) -> None:
        self._write = write
        self._relay = Relay(self.send)
        self._keeper = HostKeeper(wanted, self._prepare, self._tell_changed, client)
        offline = self._keeper.offline
        lost = LostServer(offline.introduce)
        self._sessions, self._lost_sessions = SessionEra(offline), SessionEra(lost)
        self._stateless, self._lost_stateless = StatelessEra(offline), StatelessEra(lost)
        self._client: BridgedClient | None = None
        self._under_way: dict[Id, UnderWay] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._streams: set[ListenStream] = set()

    async def run(self, lines: Lines) -> None:
        """Serves until the lines end."""
        self._start(self._keeper.run())
        while not isinstance(line := await lines.get(), EOFError):
            if line is None:
                self._refuse(None, PeerError(f"a line has {LINE_LIMIT} bytes at most"))
            elif line.strip():
                await self._take(line)
        last = [entry.task for entry in self._under_way.values() if not entry.listens]
        if last:
            await asyncio.wait(last, timeout=_LAST_ANSWERS)
        session = self._host_session
        if session is not None:
            await session.end()
        for task in list(self._tasks):
            task.cancel()

    def send(self, message: Json) -> bool:
        """Writes to the client."""
        self._write(message)
        return True

    # -- what the client says -------------------------------------------------------------------

    async def _take(self, line: bytes) -> None:
        try:
            value = jsonrpc.decode(line)
        except CallboardError as error:
            self._refuse(None, error)
            return
        if isinstance(value, list):
            self._take_batch(value)
            return
        message = jsonrpc.parse(value)
        if isinstance(message, Request):
            self._keeper.hear(message)
            task = self._begin(message, value)
            task.add_done_callback(self._answer_with)
            if message.method == "initialize":
                await asyncio.wait([task])  # what follows belongs to the session that it opens
        elif isinstance(message, Invalid):
            self._refuse(message.id, message.error)
        else:
            await self._receive(message, value)

    def _take_batch(self, values: list[Any]) -> None:
        if self._client is None or not self._client.session.features.batches:
            self._refuse(None, PeerError("batches are not part of this protocol revision"))
        elif not 0 < len(values) <= BATCH_LIMIT:
            self._refuse(None, PeerError(f"a batch has 1 to {BATCH_LIMIT} messages"))
        else:
            self._start(self._answer_batch(values))

    async def _answer_batch(self, values: list[Any]) -> None:
        answers = []
        responses = []
        for value in values:
            message = jsonrpc.parse(value)
            if isinstance(message, Request):
                answers.append(self._begin(message, value))
            elif isinstance(message, Invalid):
                responses.append(_error(message.id, message.error))
            else:
                await self._receive(message, value)
        for answer in await asyncio.gather(*answers, return_exceptions=True):
            if isinstance(answer, dict):
                responses.append(answer)
        if responses:
            self._write(responses)

    def _begin(self, request: Request, value: Json) -> asyncio.Task[Json | None]:
        if request.id in self._under_way:
            busy = PeerError(f"a request with the id {request.id!r} is still under way")
            return self._start(_refused(request, busy))
        if len(self._under_way) >= INFLIGHT_LIMIT:
            busy = PeerError(f"{INFLIGHT_LIMIT} requests are under way; wait for an answer")
            return self._start(_refused(request, busy))
        stateless = request.method == "server/discover" or is_stateless(request, {})
        task = self._start(self._answer(request, value, stateless))
        listens = request.method == "subscriptions/listen"
        self._under_way[request.id] = UnderWay(task, stateless, listens)
        task.add_done_callback(lambda done: self._under_way.pop(request.id, None))
        return task

    def _answer_with(self, task: asyncio.Task[Json | None]) -> None:
        if not task.cancelled() and (response := task.result()) is not None:
            self.send(response)

    def _refuse(self, id: Id | None, error: CallboardError) -> None:
        self.send(_error(id, error))

    async def _receive(self, message: Notification | Response, value: Json) -> None:
        if isinstance(message, Response):
            await self._relay.answered(message.id, value)
            return
        if message.method == CANCELLED and await self._cancel(message.params.get("requestId")):
            return
        if self._client is not None and message.method == "notifications/initialized":
            self._client.ready = True
        session = self._host_session
        if session is not None:
            await session.send(value)

    async def _cancel(self, id: Any) -> bool:
        """Whether the host needn't be told."""
        request = self._under_way.get(id) if jsonrpc.is_id(id) else None
        if request is None:
            return True
        request.cancelled = True
        if request.stateless:
            request.task.cancel()
            return True
        # On a connection of its own it could overtake the request.
        sending = asyncio.ensure_future(request.sent.wait())
        await asyncio.wait([sending, request.task], return_when=asyncio.FIRST_COMPLETED)
        sending.cancel()
        return request.task.done()

    # -- answering ------------------------------------------------------------------------------

    async def _answer(self, request: Request, value: Json, stateless: bool) -> Json | None:
        try:
            if stateless:
                return await self._answer_stateless(request, value)
            if request.method == "ping":
                return jsonrpc.result_message(request.id, {})
            if request.method == "initialize":
                return await self._initialize(request, value)
            if self._client is None:
                raise PeerError("initialize first")
            response = await self._answer_in_session(self._client, request, value)
            if response is not None and "result" in response:
                _remember(self._client.session, request)
            return response
        except CallboardError as error:
            return _error(request.id, error)
        except Exception:
            log.exception("%s failed", request.method)
            return _error(request.id, CallboardBug(f"internal error in {request.method[:80]}"))

    async def _initialize(self, request: Request, value: Json) -> Json:
        link = await self._keeper.current()
        session, response = self._sessions.initialize(request, LOCAL)
        client = BridgedClient(value, session)
        if link is not None:
            if link.session is not None:
                await link.session.end()
                link.session = None
            try:
                response = (await self._session_on(link, client)).response
            except Unreachable:
                self._keeper.drop(link)
        if "error" not in response:
            version = response["result"]["protocolVersion"]
            session.features = REVISIONS.get(version, session.features)
            self._client = client
        return {**response, "id": request.id}

    async def _answer_in_session(
        self, client: BridgedClient, request: Request, value: Json
    ) -> Json | None:
        for _ in range(2):
            link = await self._keeper.link_for(request)
            if link is None:
                break
            try:
                session = await self._session_on(link, client)
                return await self._exchange(link, request, value, session.headers, session)
            except Unreachable:
                self._keeper.drop(link)
            except Broken:
                return await self._lost_sessions.answer(client.session, request, self)
        return await self._sessions.answer(client.session, request, self)

    async def _answer_stateless(self, request: Request, value: Json) -> Json | None:
        self._stateless.check(request, None, LOCAL)
        schema = self._keeper.offline.known.tool_schema(request.params.get("name"))
        headers = stateless_headers(request, schema)
        if request.method == "subscriptions/listen":
            return await self._listen(request, value, headers)
        local = _first_round(request)
        for _ in range(2):
            link = await self._keeper.link_for(request)
            if link is None:
                break
            try:
                return await self._exchange(link, request, value, headers)
            except Unreachable:
                self._keeper.drop(link)
            except Broken:
                return (await self._lost_stateless.answer(local, None, self, LOCAL))[1]
        return (await self._stateless.answer(local, None, self, LOCAL))[1]

    async def _listen(
        self, request: Request, value: Json, headers: Mapping[str, str]
    ) -> Json | None:
        """Ends with the client's cancellation, or with a host's refusal."""
        stream = ListenStream(request, self)
        self._streams.add(stream)
        try:
            while True:
                if self._keeper.link is None:
                    stream.wait()
                link = await self._keeper.next()
                exchange = self._relay.exchange(
                    link, request, value, headers, pass_on=stream.pass_on
                )
                try:
                    response = await link.while_open(exchange)
                    if response is not None and "error" in response:
                        return response
                except (Unreachable, Broken):
                    pass
                self._keeper.drop(link)  # it said goodbye, or is gone
        finally:
            self._streams.discard(stream)

    async def _exchange(
        self,
        link: Link,
        request: Request,
        value: Json,
        headers: Mapping[str, str],
        session: HostConnection | None = None,
    ) -> Json | None:
        under_way = self._under_way[request.id]
        response = await self._relay.exchange(
            link, request, value, headers, session=session, sent=under_way.sent
        )
        if response is not None:
            self._keeper.choice.add_to(request, response)
        elif not under_way.cancelled:
            raise Broken("the host closed the connection without an answer")
        return response

    # -- the client's session on a host ---------------------------------------------------------

    @property
    def _host_session(self) -> HostConnection | None:
        link = self._keeper.link
        return None if link is None else link.session

    async def _prepare(self, link: Link) -> None:
        if self._client is not None:
            await self._session_on(link, self._client)

    async def _session_on(self, link: Link, client: BridgedClient) -> HostConnection:
        """The client's session on that host, opened where it isn't yet. Raises Unreachable."""
        async with link.opening:
            if link.session is not None:
                return link.session
            session = await HostConnection.open(link, client.message)
            if not session.headers:
                return session  # refused; its response says why
            session.read(lambda answer: self._relay.follow(answer, session))
            link.session = session
            if client.ready:
                await self._restore(session, client.session)
            return session

    async def _restore(self, session: HostConnection, wishes: Session) -> None:
        """Tells a new host what the client told the ones before."""
        await session.send(jsonrpc.notification_message("notifications/initialized"))
        requests: list[tuple[str, Json]] = [
            ("resources/subscribe", {"uri": uri}) for uri in sorted(wishes.watched)
        ]
        if wishes.log_level is not None:
            requests.append(("logging/setLevel", {"level": wishes.log_level}))
        for number, (method, params) in enumerate(requests):
            await session.send(jsonrpc.request_message(f"restore-{number}", method, params))

    def _tell_changed(self) -> None:
        """Another host may list and hold other things; so may the bridge alone."""
        if self._keeper.link is None:
            for stream in self._streams:
                stream.changed()
        if self._client is None or not self._client.ready:
            return
        for topic in ALL_TOPICS:
            self.send(jsonrpc.notification_message(f"notifications/{topic}/list_changed"))
        for uri in sorted(self._client.session.watched):
            params = {"uri": uri}
            self.send(jsonrpc.notification_message("notifications/resources/updated", params))

    def _start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _first_round(request: Request) -> Request:
    # What questions told one host, no other one can know.
    rounds = ("requestState", "inputResponses")
    params = {key: value for key, value in request.params.items() if key not in rounds}
    return replace(request, params=params)


def _remember(session: Session, request: Request) -> None:
    uri = request.params.get("uri")
    if request.method == "logging/setLevel":
        set_level(session, request.params.get("level"))
    elif request.method == "resources/subscribe" and isinstance(uri, str):
        session.watched.add(uri)
    elif request.method == "resources/unsubscribe" and isinstance(uri, str):
        session.watched.discard(uri)


async def _refused(request: Request, error: CallboardError) -> Json:
    return _error(request.id, error)


def _error(id: Id | None, error: CallboardError) -> Json:
    message = jsonrpc.error_message(id, error)
    if id is None:
        message.pop("id", None)  # MCP's errors have no null id
    return message
