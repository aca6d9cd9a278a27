"""The stand-in for a client's session with a host that supports only the stateless protocol
(2026-07-28).

The host's questions are sent to the client like questions in a session, and the answers are sent to
the host with the next round. Requests about the log level and subscriptions are answered here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from secrets import token_hex

from callboard.content import Json
from callboard.errors import INVALID_PARAMS, RESOURCE_NOT_FOUND
from callboard.protocol.handshake import Dialect
from callboard.protocol.jsonrpc import Request, result_message
from callboard.protocol.logging_levels import DEFAULT_LEVEL, set_level
from callboard.protocol.peer import Ask, AskFailed
from callboard.protocol.session import Channel, Session, SessionRequest
from callboard_programs.client.http import Broken
from callboard_programs.client.sent_headers import stateless_headers
from callboard_programs.relay.link import HostConnection, Link
from callboard_programs.relay.pages import object_in

#: Maximum number of rounds of questions in one call.
MOST_ROUNDS = 100
#: The fields that only results of the stateless protocol have.
_MODERN = ("resultType", "ttlMs", "cacheScope")

#: Sends a request with the given headers. All messages before the response are sent to the channel.
SendRequest = Callable[[Request, Mapping[str, str], Channel], Awaitable[Json]]


class _UnsentChannel:
    """The channel for the messages before a request's response. The response is read here, because
    it may be a further question, so it is never streamed to the client unread."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def send(self, message: Json) -> bool:
        return self._channel.send(message)


class OntoStateless(HostConnection):
    """The stand-in for the client's session on the host. Use it on a single event loop."""

    def __init__(self, link: Link, client: Json, session: Session) -> None:
        """``client`` has the client's own name and version. ``session`` is the client's session
        with the bridge."""
        super().__init__(link, {}, {})
        self._session = session
        capabilities = dict(session.capabilities)
        if capabilities.get("elicitation") == {}:
            capabilities["elicitation"] = {"form": {}}  # {} means form mode (2025-11-25).
        self._capabilities = capabilities
        self._talk = Dialect(client, True, {})

    async def send(self, message: Json) -> None:
        """Do nothing, because a host without sessions receives no messages between requests, and a
        request is cancelled by closing its connection."""

    async def end(self) -> None:
        self.close()

    async def respond(self, request: SessionRequest, send_request: SendRequest) -> Json:
        """Return the host's response in the form that the client's session expects. Raises Broken,
        Unreachable, and AskFailed when the client refuses a question whose answer the host needs.
        """
        method, uri = request.method, request.params.get("uri")
        if method == "logging/setLevel":
            set_level(self._session, request.params.get("level"))
            return result_message(request.id, {})
        if method in ("resources/subscribe", "resources/unsubscribe") and isinstance(uri, str):
            others = self._session.watched - {uri}
            await self.link.watch(others | {uri} if method.endswith("/subscribe") else others)
            return result_message(request.id, {})
        level = self._session.log_level or DEFAULT_LEVEL
        reported = self._talk.meta(self._capabilities, level)
        params: Json = {**request.params, "_meta": {**request.meta, **reported}}
        schema = None
        channel: Channel = request
        for _ in range(MOST_ROUNDS):
            passed_on = Request(request.id, method, params)
            response = await send_request(passed_on, stateless_headers(passed_on, schema), channel)
            if "error" in response:
                return _of_session(request, response)
            result = response["result"]
            if result.get("resultType") != "input_required":
                kept = {key: value for key, value in result.items() if key not in _MODERN}
                return {**response, "result": kept}
            params = {**params, "inputResponses": await self._answers(request, result)}
            params.pop("requestState", None)
            if "requestState" in result:
                params["requestState"] = result["requestState"]
            channel = _UnsentChannel(request)
        raise Broken(f"the host asked its client more than {MOST_ROUNDS} times in one call")

    async def _answers(self, request: SessionRequest, result: Json) -> Json:
        questions = object_in(result, "inputRequests")
        asks = {key: _ask(question) for key, question in questions.items()}
        given: Json = {}
        for key, answer in (await request.ask_all(asks)).items():
            if not isinstance(answer, AskFailed):
                given[key] = answer
            elif asks[key].method == "elicitation/create":
                given[key] = {"action": "cancel"}
            else:
                raise answer  # There is no way to report the failure to the host.
        return given


def _ask(question: object) -> Ask:
    method = question.get("method") if isinstance(question, dict) else None
    if not isinstance(question, dict) or not isinstance(method, str):
        raise Broken("the host's question can't be read")
    params = object_in(question, "params")
    if params.get("mode") == "url":
        params = {**params, "elicitationId": token_hex(8)}  # Sessions need an id (2025-11-25).
    return Ask(method, params)


def _of_session(request: SessionRequest, response: Json) -> Json:
    """Return the response in the form of a session, in which some errors have a different code."""
    error = response["error"]
    uri = request.params.get("uri")
    missing = error.get("code") == INVALID_PARAMS and object_in(error, "data").get("uri") == uri
    if request.method == "resources/read" and missing:
        return {**response, "error": {**error, "code": RESOURCE_NOT_FOUND}}
    return response
