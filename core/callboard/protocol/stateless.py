"""The revision 2026-07-28, which has neither ``initialize`` nor sessions. Every request describes
its client."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic

from callboard.changes import Changes
from callboard.clients.holder import TokenHolder
from callboard.content import Json
from callboard.errors import CallboardError, InvalidParams, MethodNotFound, PeerError
from callboard.protocol import headers as header_rules
from callboard.protocol import jsonrpc
from callboard.protocol.errors import HeaderMismatch, MissingClientCapability, UnsupportedVersion
from callboard.protocol.jsonrpc import Id, Request
from callboard.protocol.peer import (
    LOG_LEVELS,
    Ask,
    AskFailed,
    ClientInfo,
    InputRequired,
    Peer,
    PeerRequest,
    undeclared,
)
from callboard.protocol.request_state import RequestStates
from callboard.protocol.revisions import REVISION_2026_07_28, REVISIONS
from callboard.protocol.session import Channel, Server

META = "io.modelcontextprotocol/"
VERSION_KEY = META + "protocolVersion"
CLIENT_KEY = META + "clientInfo"
CAPABILITIES_KEY = META + "clientCapabilities"
LOG_LEVEL_KEY = META + "logLevel"
SERVER_KEY = META + "serverInfo"
#: The keys in a request's ``_meta`` that describe its client.
META_KEYS = (VERSION_KEY, CLIENT_KEY, CAPABILITIES_KEY, LOG_LEVEL_KEY)

#: All supported revisions, newest first, as ``server/discover`` and the version error list them.
SUPPORTED_VERSIONS = sorted(REVISIONS, reverse=True)
#: Milliseconds for which a client may keep a result (2026-07-28, Caching).
_CACHEABLE = {
    "server/discover": 60_000,
    "tools/list": 5_000,
    "prompts/list": 5_000,
    "resources/list": 5_000,
    "resources/templates/list": 5_000,
    "resources/read": 0,
    "skills/list": 5_000,
    "skills/get": 5_000,
}
#: Methods that may answer with questions (2026-07-28, Multi Round-Trip Requests).
MAY_ASK = ("tools/call", "prompts/get", "resources/read")
#: Methods of earlier revisions that this revision removed.
_REMOVED = (
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
)
#: HTTP statuses that the specification prescribes; every other error is sent with 200.
_STATUSES = {
    HeaderMismatch: 400,
    MissingClientCapability: 400,
    UnsupportedVersion: 400,
    MethodNotFound: 404,
}


#: Maximum number of clients that are kept, and seconds for which a client is kept after its last
#: request.
RECENT_LIMIT = 16
KEPT = 300.0

SchemaOf = Callable[[str], Mapping[str, object] | None]


class MetaMissing(InvalidParams):
    """Raised when a field that every request's ``_meta`` must have is missing."""


def is_stateless(request: Request, headers: Mapping[str, str]) -> bool:
    """Return whether a request is of this era, as stated in its ``_meta``, or in a header that no
    revision with sessions uses."""
    meta = request.params.get("_meta")
    if isinstance(meta, dict) and VERSION_KEY in meta:
        return True
    version = headers.get(header_rules.VERSION_HEADER.lower())
    if version is None or header_rules.SESSION_HEADER.lower() in headers:
        return False
    revision = REVISIONS.get(version)
    if revision is None:
        return request.method != "initialize"
    return not revision.sessions


class StatelessRequest(PeerRequest):
    """One request. A question to its client is answered from this request's own params, or ends the
    request."""

    def __init__(
        self, peer: Peer, id: Id, method: str, params: Json, channel: Channel, answers: Json
    ) -> None:
        super().__init__(peer, id, method, params)
        self._channel = channel
        self.answers = answers

    def notify(self, method: str, params: Json) -> None:
        self._channel.send(jsonrpc.notification_message(method, params))

    async def ask_all(self, asks: Mapping[str, Ask]) -> dict[str, Json | AskFailed]:
        if self.method not in MAY_ASK:
            raise PeerError(f"{self.method} can't ask its client anything")
        if needed := undeclared(self.peer.capabilities, asks.values()):
            raise MissingClientCapability(needed)
        if any(key not in self.answers for key in asks):
            raise InputRequired({key: ask for key, ask in asks.items() if key not in self.answers})
        return {key: self.answers[key] for key in asks}


class RecentClients:
    """Clients that called recently. They are the only trace of clients that never open a session.
    Runs on the server's loop."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._seen: dict[tuple[ClientInfo, str], float] = {}
        self._changes: Changes[[]] = Changes()

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` when a new client appears. Return a function that removes the
        listener."""
        return self._changes.watch(listener)

    def saw(self, peer: Peer) -> None:
        """Note a request from this peer, and forget the least recent client if there are too
        many."""
        key = (peer.client, peer.features.name)
        known = self._seen.pop(key, None) is not None
        self._seen[key] = self.clock()
        if not known:
            if len(self._seen) > RECENT_LIMIT:
                del self._seen[next(iter(self._seen))]
            self._changes.tell()

    def all(self) -> list[tuple[ClientInfo, str]]:
        """Return clients and their revisions, the least recent first."""
        oldest = self.clock() - KEPT
        self._seen = {key: at for key, at in self._seen.items() if at > oldest}
        return list(self._seen)

    @property
    def next_goes_in(self) -> float | None:
        """Seconds until the least recent client is forgotten, or None when there is none."""
        first = next(iter(self._seen.values()), None)
        return None if first is None else max(first + KEPT - self.clock(), 0.0)


class StatelessEra:
    """Turns one request into a call to the server, and its outcome into one response."""

    def __init__(self, server: Server, schema_of: SchemaOf = lambda tool: None) -> None:
        """``schema_of`` returns a tool's input schema, or None for an unknown tool. The schema says
        which headers repeat arguments."""
        self._server = server
        self._schema_of = schema_of
        self._states = RequestStates()
        self.recent = RecentClients()

    def check(
        self, message: Request, headers: Mapping[str, str] | None, holder: TokenHolder
    ) -> Peer:
        """Check a request and return its peer, made from ``holder`` and the client's description of
        itself. ``headers`` is None when there are none, as on stdio. Raises HeaderMismatch,
        InvalidParams, UnsupportedVersion, MethodNotFound, in the order that the specification
        requires."""
        meta = message.params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        version, capabilities = meta.get(VERSION_KEY), meta.get(CAPABILITIES_KEY)
        stated = None if headers is None else headers.get(header_rules.VERSION_HEADER.lower())
        if headers is not None and stated is None:
            raise HeaderMismatch(f"{header_rules.VERSION_HEADER} is missing")
        if not isinstance(version, str):
            raise MetaMissing(f"params._meta['{VERSION_KEY}'] must be a string")
        if not isinstance(capabilities, dict):
            raise MetaMissing(f"params._meta['{CAPABILITIES_KEY}'] must be an object")
        if stated is not None and stated.strip() != version:
            raise HeaderMismatch(
                f"{header_rules.VERSION_HEADER} is {stated[:40]!r}, but the body says "
                f"{version[:40]!r}"
            )
        if version != REVISION_2026_07_28.name:
            raise UnsupportedVersion(version, SUPPORTED_VERSIONS)
        if headers is not None:
            header_rules.check_method(message, headers)
        if message.method in _REMOVED:
            raise MethodNotFound(f"'{message.method}' is not part of this protocol revision")
        if headers is not None:
            header_rules.check_name(message, headers)
        client = ClientInfo.read(meta.get(CLIENT_KEY))
        label = f"stateless {holder.id}"
        peer = Peer(label, REVISION_2026_07_28, client, capabilities, holder)
        level = meta.get(LOG_LEVEL_KEY)
        if level is not None and level not in LOG_LEVELS:
            raise InvalidParams(f"_meta['{LOG_LEVEL_KEY}'] must be one of {', '.join(LOG_LEVELS)}")
        peer.log_level = level
        self.recent.saw(peer)
        return peer

    async def answer(
        self,
        message: Request,
        headers: Mapping[str, str] | None,
        channel: Channel,
        holder: TokenHolder,
    ) -> tuple[int, Json]:
        """Return the HTTP status and the response. Raises CancelledError if the client left."""
        try:
            peer = self.check(message, headers, holder)
            return 200, jsonrpc.result_message(
                message.id, await self._result(peer, message, headers, channel)
            )
        except CallboardError as error:
            return status_of(error), jsonrpc.error_message(message.id, error)

    async def _result(
        self,
        peer: Peer,
        message: Request,
        headers: Mapping[str, str] | None,
        channel: Channel,
    ) -> Json:
        params = message.params
        if message.method == "server/discover":
            introduction = self._server.introduce(peer)
            del introduction["serverInfo"]
            return self._complete(
                peer, message.method, {"supportedVersions": SUPPORTED_VERSIONS, **introduction}
            )
        request = StatelessRequest(
            peer, message.id, message.method, params, channel, self._answers(message, peer)
        )
        if headers is not None and message.method == "tools/call":
            self._check_arguments(params, headers)
        try:
            result = await self._server.handle(request)
        except InputRequired as asking:
            return self._ask(request, asking)
        return self._complete(peer, message.method, result)

    def _check_arguments(self, params: Json, headers: Mapping[str, str]) -> None:
        """Check only the headers that repeat the call's arguments. Raises HeaderMismatch."""
        name, arguments = params.get("name"), params.get("arguments")
        schema = self._schema_of(name) if isinstance(name, str) else None
        if schema is not None and isinstance(arguments, (dict, type(None))):
            header_rules.check_params(schema, arguments or {}, headers)

    def _answers(self, message: Request, peer: Peer) -> Json:
        """Return the client's answers so far: those in the state and those of this round."""
        params = message.params
        given = params.get("inputResponses", {})
        if not isinstance(given, dict):
            raise InvalidParams("params.inputResponses must be an object")
        if "requestState" not in params:
            return given
        owner = peer.holder.id
        earlier = self._states.open(params["requestState"], message.method, params, owner)
        return {**given, **earlier}

    def _ask(self, request: StatelessRequest, asking: InputRequired) -> Json:
        asks = {
            key: {"method": ask.method, "params": _modern(ask)}
            if ask.params
            else {"method": ask.method}
            for key, ask in asking.asks.items()
        }
        return {
            "resultType": "input_required",
            "inputRequests": asks,
            "requestState": self._states.make(
                request.method, request.params, request.answers, request.peer.holder.id
            ),
            "_meta": {SERVER_KEY: self._info(request.peer)},
        }

    def _complete(self, peer: Peer, method: str, result: Json) -> Json:
        result.setdefault("resultType", "complete")
        if method in _CACHEABLE:
            result["ttlMs"] = _CACHEABLE[method]
            result["cacheScope"] = "private"
        result["_meta"] = {SERVER_KEY: self._info(peer), **result.get("_meta", {})}
        return result

    def _info(self, peer: Peer) -> Json:
        info: Json = self._server.introduce(peer)["serverInfo"]
        return info


def _modern(ask: Ask) -> Json:
    # 2026-07-28 has no elicitationId: the state says which question an answer belongs to.
    return {key: value for key, value in ask.params.items() if key != "elicitationId"}


def status_of(error: CallboardError) -> int:
    """Return the HTTP status that an error is sent with."""
    if isinstance(error, MetaMissing):
        return 400
    return next((s for kind, s in _STATUSES.items() if isinstance(error, kind)), 200)
