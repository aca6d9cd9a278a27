"""Connects a client without sessions to a host that supports only sessions. Each call has a session
to itself until the call ends, so that all of the host's questions in that session belong to the
call. A question ends the client's request (2026-07-28, Multi Round-Trip Requests), and the call on
the host waits for the next round."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from secrets import token_hex
from time import monotonic
from typing import Any

from callboard.content import Json
from callboard.errors import INVALID_PARAMS, RESOURCE_NOT_FOUND, HostError, InvalidParams
from callboard.protocol import jsonrpc
from callboard.protocol.jsonrpc import Request
from callboard.protocol.peer import InputRequired, Peer, PeerRequest
from callboard.protocol.request_state import LIFETIME
from callboard.protocol.revisions import NEWEST_WITH_SESSIONS
from callboard.protocol.session import Channel, PeerEvent
from callboard.protocol.stateless import MAY_ASK, META_KEYS, StatelessRequest
from callboard_programs.client.http import Broken, HttpAnswer, Unreachable
from callboard_programs.client.http_client import CANCELLED, RefusedByHttp, RemoteError
from callboard_programs.relay.held_call import CallSession, HeldCall
from callboard_programs.relay.link import HostConnection, Link, soon
from callboard_programs.relay.offline import LostServer
from callboard_programs.relay.pages import object_in
from callboard_programs.relay.reconnect import Reconnector
from callboard_programs.relay.relay import Relay, result_of

#: Seconds for which a session may be reused. Its facts about the client, such as the roots, are
#: never older than this.
FRESH = 60.0
#: Maximum number of sessions kept for further calls, and maximum number of calls that wait for
#: their clients' answers.
IDLE_LIMIT, HELD_LIMIT = 8, 64
#: The key that identifies a call in the state that the client carries from round to round.
_HELD = "callboard/held"
_ROUNDS = ("requestState", "inputResponses")

#: Sends a request to the host. All messages before the response are sent to the channel.
SendRequest = Callable[
    [Link, Request, Mapping[str, str], Channel, HostConnection], Coroutine[Any, Any, Json]
]


class OntoSessions:
    """The server beneath the stateless protocol, for one client. Use it on a single event loop."""

    def __init__(
        self, keeper: Reconnector, relay: Relay, send_request: SendRequest, lost: LostServer
    ) -> None:
        self._keeper = keeper
        self._relay = relay
        self._send_request = send_request
        self._lost = lost
        self._idle: list[CallSession] = []
        self._held: dict[str, HeldCall] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def introduce(self, peer: Peer) -> Json:
        return self._keeper.offline.introduce(peer)

    def peer_event(self, peer: Peer, event: PeerEvent) -> None:
        """Do nothing, because clients without sessions have no events."""

    async def handle(self, request: PeerRequest) -> Json:
        """Return the result of a request. Raises CallboardError or InputRequired."""
        assert isinstance(request, StatelessRequest)
        if _HELD in request.answers:
            call = self._held.pop(str(request.answers[_HELD]), None)
            if call is None:
                raise InvalidParams(
                    "the application is no longer waiting for this answer; send the request "
                    "again without requestState"
                )
            return await self._go_on(call, request)
        for _ in range(2):
            link = await self._keeper.link_for(request)
            if link is None or link.era != "sessions":
                break
            try:
                if request.method not in MAY_ASK:
                    return await self._plain(link, request)
                return await self._go_on(await self._call(link, request), request)
            except Unreachable:
                self._keeper.drop(link)
            except Broken:
                return await self._lost.handle(request)
        return await self._keeper.offline.handle(request)

    async def close(self) -> None:
        """End the waiting calls and all sessions, and notify the host."""
        for call in list(self._held.values()):
            self._end(call)
        self._held.clear()
        for session in self._idle:
            self._start(session.connection.end())
        self._idle.clear()
        await asyncio.gather(*self._tasks)

    # -- one round ------------------------------------------------------------------------------

    async def _plain(self, link: Link, request: PeerRequest) -> Json:
        """Send a request that can't lead to questions. The link's own session is used."""
        try:
            result = await link.ask(request.method, _of_session(request))
        except RefusedByHttp as refused:
            if refused.status == 404:
                raise Unreachable("the host no longer knows this session") from None
            raise
        if self._keeper.choice.offered:
            self._keeper.choice.add_to(request, {"result": result})
        return result

    async def _call(self, link: Link, request: StatelessRequest) -> HeldCall:
        session = await self._session(link, request.peer)
        level = request.peer.log_level
        if level is not None and level != session.level:
            session.level = level
            setting = jsonrpc.request_message("level", "logging/setLevel", {"level": level})
            await session.connection.send(setting)
        call = HeldCall(session, request.id, self._relay)
        passed_on = Request(request.id, request.method, _of_session(request))
        connection = session.connection
        call.begin(self._send_request(link, passed_on, connection.headers, call, connection))
        return call

    async def _go_on(self, call: HeldCall, request: StatelessRequest) -> Json:
        if call.expiry is not None:
            call.expiry.cancel()
        try:
            response = await call.go_on(request)
        except InputRequired:
            self._hold(call, request)
            raise
        except BaseException:
            self._end(call)
            raise
        self._give_back(call.session)
        call.check(response)
        try:
            return result_of(response)
        except RemoteError as error:
            if error.code == RESOURCE_NOT_FOUND:
                error.code = INVALID_PARAMS  # The stateless protocol uses this code.
            raise

    def _hold(self, call: HeldCall, request: StatelessRequest) -> None:
        """Hold a call until the client returns with answers. The state that the client carries
        identifies the call."""
        key = token_hex(16)
        request.answers[_HELD] = key
        while len(self._held) >= HELD_LIMIT:
            self._end(self._held.pop(next(iter(self._held))))
        self._held[key] = call
        call.expiry = asyncio.get_running_loop().call_later(LIFETIME, self._expire, key)

    def _expire(self, key: str) -> None:
        call = self._held.pop(key, None)
        if call is not None:
            self._end(call)

    def _end(self, call: HeldCall) -> None:
        """End a call that no client is waiting for anymore."""
        call.cancel()
        if call.expiry is not None:
            call.expiry.cancel()
        params = {"requestId": call.id, "reason": "the client is no longer waiting"}
        connection = call.session.connection

        async def tell() -> None:
            await connection.send(jsonrpc.notification_message(CANCELLED, params))
            await connection.end()

        self._start(tell())

    # -- sessions -------------------------------------------------------------------------------

    async def _session(self, link: Link, peer: Peer) -> CallSession:
        """Return a session that no other call uses. Raises Unreachable, Broken or HostError."""
        for session in list(self._idle):
            if session.connection.link is not link or monotonic() - session.opened > FRESH:
                self._idle.remove(session)
                self._start(session.connection.end())
            elif session.capabilities == peer.capabilities:
                self._idle.remove(session)
                return session
        opening = {
            "protocolVersion": NEWEST_WITH_SESSIONS.name,
            "capabilities": dict(peer.capabilities),
            "clientInfo": dict(link.client_info),
        }
        message = jsonrpc.request_message("callboard-call", "initialize", opening)
        connection = await HostConnection.open(link, message)
        if not connection.headers:
            why = object_in(connection.response, "error").get("message", "no reason given")
            raise HostError(f"the host refused to open a session for this call: {why}")
        await connection.send(jsonrpc.notification_message("notifications/initialized"))
        session = CallSession(connection, peer.capabilities)
        listening = asyncio.Event()

        async def pump(stream: HttpAnswer) -> None:
            listening.set()
            if stream.status < 400:
                await self._relay.follow(stream, connection, session)
            else:
                await (
                    link.closed.wait()
                )  # Without this stream, the host sends its questions on the call's stream.

        try:
            await soon(listening, connection.read(pump))
        except asyncio.CancelledError:
            self._start(connection.end())
            raise
        return session

    def _give_back(self, session: CallSession) -> None:
        session.call = None
        if len(self._idle) < IDLE_LIMIT:
            self._idle.append(session)
        else:
            self._start(session.connection.end())

    def _start(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _of_session(request: PeerRequest) -> Json:
    """Return a request's params in the form that sessions use."""
    params = {key: value for key, value in request.params.items() if key not in _ROUNDS}
    params["_meta"] = {key: v for key, v in request.meta.items() if key not in META_KEYS}
    if not params["_meta"]:
        del params["_meta"]
    return params
