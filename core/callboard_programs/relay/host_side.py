"""One client's conversation with hosts, which continues while hosts come and go."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

from callboard.clients.holder import LOCAL, TokenHolder
from callboard.content import Json
from callboard.errors import METHOD_NOT_FOUND, CallboardBug, CallboardError, PeerError
from callboard.protocol import jsonrpc
from callboard.protocol.errors import (
    HEADER_MISMATCH,
    MISSING_CLIENT_CAPABILITY,
    UNSUPPORTED_VERSION,
)
from callboard.protocol.jsonrpc import Notification, Request, Response
from callboard.protocol.logging_levels import set_level
from callboard.protocol.peer import Peer, PeerRequest
from callboard.protocol.revisions import REVISIONS
from callboard.protocol.session import (
    Channel,
    PeerEvent,
    ResponseSent,
    Session,
    SessionEra,
    SessionRequest,
)
from callboard.protocol.stateless import StatelessEra, status_of
from callboard.protocol.subscriptions import SUBSCRIPTION_KEY
from callboard_programs.client.http import Broken, Unreachable
from callboard_programs.client.http_client import CANCELLED, RemoteError
from callboard_programs.client.sent_headers import stateless_headers
from callboard_programs.relay.finder import Finder
from callboard_programs.relay.link import HostConnection, Link
from callboard_programs.relay.listen import ALL_TOPICS, ListenStreams
from callboard_programs.relay.offline import LostServer
from callboard_programs.relay.pages import object_in
from callboard_programs.relay.reconnect import Present, Reconnector, own_token
from callboard_programs.relay.relay import Relay, result_of

if TYPE_CHECKING:
    from callboard_programs.relay.onto_sessions import OntoSessions
    from callboard_programs.relay.onto_stateless import OntoStateless

log = logging.getLogger(__name__)

#: The requests with which a client changes its session's settings, which are kept across hosts.
_REMEMBERED = ("logging/setLevel", "resources/subscribe", "resources/unsubscribe")

#: The HTTP status of errors for which the specification prescribes one. Other errors are sent with
#: 200.
_STATUSES = {
    HEADER_MISMATCH: 400,
    MISSING_CLIENT_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}


@dataclass(eq=False)
class RelayedClient:
    """The session as the client opened it. It is opened in the same way on every later host."""

    request: Request
    #: The session's revision, log level and watched resources.
    session: Session
    ready: bool = False


class HostSide:
    """The host that a client's requests go to, and the client's session there. The session-based
    and the stateless protocol both use this object as their server. Use it on a single event
    loop."""

    def __init__(
        self,
        finder: Finder,
        channel: Channel | None = None,
        present: Present = own_token,
        holder: TokenHolder = LOCAL,
    ) -> None:
        """``channel`` receives messages that don't belong to any of the client's requests. By
        default, the client's session receives them. ``present`` returns the token for a host.
        ``holder`` identifies the client."""
        self._channel = channel or self
        self._holder = holder
        self._relay = Relay(self._channel)
        self.keeper = Reconnector(finder, self._prepare, self._tell_changed, present, self._heard)
        self._lost = LostServer(self.keeper.offline)
        self._era = SessionEra(self)
        self._stateless = StatelessEra(self.keeper.offline)
        self._lost_stateless = StatelessEra(self._lost)
        #: None until the client has opened a session.
        self.client: RelayedClient | None = None
        self._streams = ListenStreams(self.keeper, self._relay)
        #: For a host that supports only sessions: the server that stands in for the host, and the
        #: stateless protocol on top of that server.
        self._onto_sessions: tuple[OntoSessions, StatelessEra] | None = None

    async def run(self) -> None:
        """Keep the client connected. Runs until it is cancelled."""
        await self.keeper.run()

    async def end(self) -> None:
        """Notify the host that the client is gone, and drop the connection."""
        if self._onto_sessions is not None:
            await self._onto_sessions[0].close()
        await self.keeper.end()

    def send(self, message: Json) -> bool:
        """Send a message to the client on its session's own stream. If the client has no such
        stream, a question is sent on the stream of a waiting request, because that request may need
        the answer."""
        if self.client is None:
            return False
        session = self.client.session
        kept = session.send(message)
        if "id" in message:
            for request in list(session.inflight.values()):
                request.flush_waiting()
        return kept

    def adopt(self, session: Session) -> None:
        """Take over a session that the client opened elsewhere and has initialized."""
        client: Json = {"name": session.client.name, "version": session.client.version}
        if session.client.title:
            client["title"] = session.client.title
        opened = {
            "protocolVersion": session.features.name,
            "capabilities": dict(session.capabilities),
            "clientInfo": client,
        }
        self.client = RelayedClient(Request("adopted", "initialize", opened), session, ready=True)
        self.keeper.hear(self.client.request)

    # -- messages from the client ---------------------------------------------------------------

    async def initialize(self, request: Request) -> Json:
        """Handle ``initialize``, and return the response. Unless the response is an error,
        ``client`` is a new client afterwards."""
        self.keeper.hear(request)
        link = await self.keeper.current()
        try:
            session, response = self._era.initialize(request, self._holder)
        except CallboardError as error:
            return jsonrpc.error_message(request.id, error)
        client = RelayedClient(request, session)
        if link is not None:
            if link.session is not None:
                await link.session.end()
                link.session = None
            try:
                opened = await self._session_on(link, client)
                response = opened.response or response
            except Unreachable:
                self.keeper.drop(link)
        if "error" not in response:
            version = response["result"]["protocolVersion"]
            session.features = REVISIONS.get(version, session.features)
            self.client = client
        return {**response, "id": request.id}

    async def answer(self, request: Request, channel: Channel) -> Json | None:
        """Return the response to a request in the client's session, or None if the request was
        cancelled."""
        self.keeper.hear(request)
        if request.method == "ping":
            return jsonrpc.result_message(request.id, {})
        if self.client is None:
            return jsonrpc.error_message(request.id, PeerError("initialize first"))
        try:
            return await self._era.answer(self.client.session, request, channel)
        except Exception:
            return _failed(request)

    async def answer_stateless(
        self, request: Request, channel: Channel, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Json | None]:
        """Return an HTTP status and the response to a request of revision 2026-07-28. The response
        is None if ``channel`` already has it. ``headers`` are the headers of the request, if the
        transport has any.
        """
        self.keeper.hear(request)
        try:
            self._stateless.check(request, headers, self._holder)
            response = await self._answer_stateless(request, channel, headers)
        except CallboardError as error:
            return status_of(error), jsonrpc.error_message(request.id, error)
        except ResponseSent:
            return 200, None
        except Exception:
            return 200, _failed(request)
        code = (response or {}).get("error", {}).get("code")
        return _STATUSES.get(code, 200), response

    async def receive(self, message: Notification | Response) -> None:
        """Handle a message from the client's session that doesn't need an answer."""
        client = self.client
        if client is None:
            return
        if isinstance(message, Response):
            self._era.receive(client.session, message)
            await self.tell(message)
            return
        cancelled = message.params.get("requestId") if message.method == CANCELLED else None
        answered = jsonrpc.is_id(cancelled) and cancelled not in client.session.inflight
        self._era.receive(client.session, message)
        if not answered:
            await self.tell(message)

    async def tell(self, message: Notification | Response) -> None:
        """Pass on to the host a message that doesn't need an answer."""
        if isinstance(message, Response):
            await self._relay.answered(message)
            return
        if self.client is not None and message.method == "notifications/initialized":
            self.client.ready = True
        link = self.keeper.link
        if link is not None and link.session is not None:
            reported = jsonrpc.notification_message(message.method, message.params)
            await link.session.send(reported)

    # -- the server of each era -------------------------------------------------------------------

    def introduce(self, peer: Peer) -> Json:
        return self.keeper.offline.introduce(peer)

    def peer_event(self, peer: Peer, event: PeerEvent) -> None:
        """Do nothing, because the host receives the client's own messages."""

    async def handle(self, request: PeerRequest) -> Json:
        """Return the host's result, or a result that explains why the host has none. Raises
        CallboardError."""
        assert isinstance(request, SessionRequest)
        if request.session.outbox:
            request.flush_waiting()
        if request.method == "tools/call":
            request.params = await self.keeper.directed(request.params)
        result = await self._handle(request)
        if request.method in _REMEMBERED:
            _remember(request.session, request)
        return result

    async def _handle(self, request: SessionRequest) -> Json:
        assert self.client is not None
        passed_on = Request(request.id, request.method, request.params)
        for _ in range(2):
            link = await self.keeper.link_for(request)
            if link is None:
                break
            try:
                session = await self._session_on(link, self.client)
                if link.era == "stateless":
                    instead = cast("OntoStateless", session)
                    response = await instead.respond(request, partial(self._send_request, link))
                else:
                    response = await self._send_request(
                        link, passed_on, session.headers, request, session
                    )
            except Unreachable:
                self.keeper.drop(link)
                continue
            except Broken:
                return await self._lost.handle(request)
            return result_of(response)
        return await self.keeper.offline.handle(request)

    async def _answer_stateless(
        self, request: Request, channel: Channel, headers: Mapping[str, str] | None
    ) -> Json | None:
        if request.method == "tools/call":
            request = request._replace(params=await self.keeper.directed(request.params))
        schema = self.keeper.offline.known.tool_schema(request.params.get("name"))
        passed_on = stateless_headers(request, schema) if headers is None else _of_mcp(headers)
        if request.method == "subscriptions/listen":
            if await self.keeper.current() is None:
                self.keeper.offline.check()
            return await self._streams.listen(request, channel, passed_on)
        era = self._stateless
        for _ in range(2):
            link = await self.keeper.link_for(request)
            if link is None:
                break
            if link.era == "sessions":
                return (
                    await self._over_sessions().answer(request, headers, channel, self._holder)
                )[1]
            try:
                return await self._send_request(link, request, passed_on, channel)
            except Unreachable:
                self.keeper.drop(link)
            except Broken:
                era = self._lost_stateless
                break
        return (await era.answer(_first_round(request), headers, channel, self._holder))[1]

    def _over_sessions(self) -> StatelessEra:
        if self._onto_sessions is None:
            from callboard_programs.relay.onto_sessions import OntoSessions  # Few hosts need it.

            onto = OntoSessions(self.keeper, self._relay, self._send_request, self._lost)
            era = StatelessEra(onto, lambda tool: self.keeper.offline.known.tool_schema(tool))
            self._onto_sessions = onto, era
        return self._onto_sessions[1]

    async def _send_request(
        self,
        link: Link,
        request: Request,
        headers: Mapping[str, str],
        channel: Channel,
        session: HostConnection | None = None,
    ) -> Json:
        response = await self._relay.send_request(link, request, headers, channel, session)
        if response is None:
            raise Broken("the host closed the connection without an answer")
        if not isinstance(response.get("error", response.get("result")), dict):
            raise Broken("the host's answer is neither a result nor an error")
        if self.keeper.choice.offered:
            self.keeper.choice.add_to(request, response)
        return response

    # -- the client's session on a host ---------------------------------------------------------

    async def _prepare(self, link: Link) -> None:
        if self.client is not None:
            await self._session_on(link, self.client)

    async def _session_on(self, link: Link, client: RelayedClient) -> HostConnection:
        """Return the client's session on that host. If there is none, open one first. Raises
        Unreachable."""
        if link.session is not None:
            return link.session
        async with link.opening:
            if link.session is not None:
                return link.session
            request = client.request
            if link.era != "stateless":
                opening = jsonrpc.request_message(request.id, request.method, request.params)
                session = await HostConnection.open(link, opening)
                if session.unknown:
                    link.era = "stateless"
            if link.era == "stateless":
                return await self._without_session(link, client)
            if not session.headers:
                return session  # The host refused, and the response says why.
            session.read(lambda answer: self._relay.follow(answer, session))
            link.session = session
            if client.ready:
                await _restore(session, client.session)
            return session

    async def _without_session(self, link: Link, client: RelayedClient) -> OntoStateless:
        """Return the stand-in for a session on a host that doesn't support sessions. Raises
        Unreachable or Broken."""
        from callboard_programs.relay.onto_stateless import OntoStateless  # Few hosts need it.

        called = object_in(client.request.params, "clientInfo")
        link.session = instead = OntoStateless(link, called, client.session)
        try:
            await link.watch(client.session.watched)
        except RemoteError as refused:
            log.warning("%s refuses to report changes: %s", link.instance.id, refused)
        return instead

    def _heard(self, link: Link, method: str, params: Json) -> None:
        """Pass on a host's notification that doesn't reach the client on its own."""
        if link.era == "sessions":
            self._streams.notified(method, params)
        elif link.era == "stateless" and self.client is not None:
            meta = {k: v for k, v in object_in(params, "_meta").items() if k != SUBSCRIPTION_KEY}
            reported = {key: value for key, value in params.items() if key != "_meta"}
            reported.update({"_meta": meta} if meta else {})
            self._channel.send(jsonrpc.notification_message(method, reported or None))

    def _tell_changed(self) -> None:
        """Notify the client that all lists may have changed: a different host answers now, or there
        are several hosts to choose from."""
        if self.keeper.link is None:
            self._streams.changed()
        if self.client is None or not self.client.ready:
            return
        tell = self._channel.send
        for topic in ALL_TOPICS:
            tell(jsonrpc.notification_message(f"notifications/{topic}/list_changed"))
        for uri in sorted(self.client.session.watched):
            tell(jsonrpc.notification_message("notifications/resources/updated", {"uri": uri}))


def _first_round(request: Request) -> Request:
    # One host can't use the answers to another host's questions.
    rounds = ("requestState", "inputResponses")
    params = {key: value for key, value in request.params.items() if key not in rounds}
    return request._replace(params=params)


def _of_mcp(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower().startswith("mcp-")}


def _failed(request: Request) -> Json:
    log.exception("%s failed", request.method)
    bug = CallboardBug(f"internal error in {request.method[:80]}")
    return jsonrpc.error_message(request.id, bug)


def _remember(session: Session, request: SessionRequest) -> None:
    """Record which resources the client watches, and which log messages it receives."""
    uri = request.params.get("uri")
    if request.method == "logging/setLevel":
        set_level(session, request.params.get("level"))
    elif request.method == "resources/subscribe" and isinstance(uri, str):
        session.watched.add(uri)
    elif request.method == "resources/unsubscribe" and isinstance(uri, str):
        session.watched.discard(uri)


async def _restore(connection: HostConnection, wishes: Session) -> None:
    """Send a new host the settings that the client sent to earlier hosts."""
    await connection.send(jsonrpc.notification_message("notifications/initialized"))
    requests: list[tuple[str, Json]] = [
        ("resources/subscribe", {"uri": uri}) for uri in sorted(wishes.watched)
    ]
    if wishes.log_level is not None:
        requests.append(("logging/setLevel", {"level": wishes.log_level}))
    for number, (method, params) in enumerate(requests):
        await connection.send(jsonrpc.request_message(f"restore-{number}", method, params))
