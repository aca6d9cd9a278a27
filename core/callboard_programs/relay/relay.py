"""Passes messages between the client and one host. The client's requests are sent to the host.
Notifications, answers and the host's own questions are sent to the client."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from contextlib import aclosing
from functools import partial

from callboard.content import Json
from callboard.errors import CallboardError, PeerError
from callboard.protocol import jsonrpc
from callboard.protocol.jsonrpc import Id, Request, Response
from callboard.protocol.session import Channel, ResponseChannel, ResponseSent, SessionRequest
from callboard_programs.client.http import HttpAnswer, LargeMessage, Unreachable
from callboard_programs.client.http_client import CANCELLED, RemoteError
from callboard_programs.relay.link import HostConnection, Link


class Relay:
    """The messages between one client and all hosts that it is connected to over time. Use it on a
    single event loop."""

    #: Shared by all relays, because several of them may ask the same client.
    _ask_ids = itertools.count(1)

    def __init__(self, channel: Channel) -> None:
        """``channel`` receives the messages that don't belong to any of the client's requests."""
        self._channel = channel
        self._asked: dict[Id, tuple[HostConnection, Id]] = {}

    async def send_request(
        self,
        link: Link,
        request: Request,
        headers: Mapping[str, str],
        channel: Channel,
        session: HostConnection | None = None,
    ) -> Json | None:
        """Return the host's response, or None if the host's answer ends without a response.
        ``channel`` receives the messages before the response. Raises Unreachable, Broken, and
        ResponseSent if ``channel`` has already passed on a large response."""
        message = jsonrpc.encode(
            jsonrpc.request_message(request.id, request.method, request.params)
        )
        async with link.post(message, headers) as answer:
            if session is not None and answer.status == 404:
                raise Unreachable("the host no longer knows this session")
            if answer.status >= 400:
                return _refusal(request, answer.status, await answer.body())
            return await self._pump(answer, session, request.id, channel)

    async def follow(
        self, answer: HttpAnswer, session: HostConnection, channel: Channel | None = None
    ) -> None:
        """Pass on the messages of a session's own stream until it ends. Raises Broken."""
        await self._pump(answer, session, None, channel or self._channel)

    async def answered(self, answer: Response) -> None:
        """Pass the client's answer to the host that asked, if the host is still waiting."""
        session, host_id = self._asked.pop(answer.id, (None, answer.id))
        if session is not None:
            failed = answer.error is not None
            outcome = {"error": answer.error} if failed else {"result": answer.result}
            await session.send({"jsonrpc": "2.0", "id": host_id, **outcome})

    async def _pump(
        self, answer: HttpAnswer, session: HostConnection | None, id: Id | None, channel: Channel
    ) -> Json | None:
        asked = []
        try:
            # Close the generator here, because otherwise Python would close it in a different task.
            outlet = None if id is None else _outlet(channel, id)
            async with aclosing(answer.passing(partial(_pours, outlet, id))) as messages:
                async for message in messages:
                    if isinstance(message, LargeMessage):
                        assert outlet is not None
                        await outlet.pour(message.size, message.parts)
                        raise ResponseSent
                    if "method" not in message:
                        if id is not None and message.get("id") == id:
                            return message
                    elif "id" not in message:
                        self._pass_on(channel, message)
                    elif session is not None:
                        # Different hosts may use the same ids for their questions, so give each
                        # question an id of our own.
                        own_id = f"callboard-relay-{next(self._ask_ids)}"
                        self._asked[own_id] = (session, message["id"])
                        asked.append(own_id)
                        self._pass_on(channel, {**message, "id": own_id})
            return None
        finally:
            for own_id in asked:
                if self._asked.pop(own_id, None) is not None:
                    params = {"requestId": own_id, "reason": "the host is no longer waiting"}
                    self._channel.send(jsonrpc.notification_message(CANCELLED, params))

    def _pass_on(self, channel: Channel, message: Json) -> None:
        if not channel.send(message):
            self._channel.send(message)


def result_of(response: Json) -> Json:
    """Return the result in a response. Raises RemoteError for an error."""
    if "error" in response:
        error = response["error"]
        message, code = str(error.get("message", "")), error.get("code")
        raise RemoteError(message, data=error.get("data"), code=code)
    result: Json = response.get("result", {})
    return result


def _outlet(channel: Channel, id: Id) -> ResponseChannel | None:
    """Return the client's channel for the response to that request, or None for a response that no
    client gets, such as one to our own requests."""
    while isinstance(channel, SessionRequest):
        if channel.id != id:
            return None
        channel = channel.channel
    return channel if isinstance(channel, ResponseChannel) else None


def _pours(
    outlet: ResponseChannel | None, id: Id | None, size: int | None, beginning: bytes
) -> bool:
    """Return whether a message is the response and can be passed on unread. Only a response that
    begins exactly as our hosts write it qualifies. Any other message is read and checked."""
    if outlet is None or id is None or not outlet.can_pour(size):
        return False
    return beginning.startswith(jsonrpc.encode(jsonrpc.result_message(id, {}))[:-2])


def _refusal(request: Request, status: int, body: bytes) -> Json:
    """Return a host's refusal as a JSON-RPC error: the host's own error, or one made from the HTTP
    status and the reason in the body."""
    try:
        error = jsonrpc.decode(body)["error"]
    except (CallboardError, KeyError, TypeError):
        error = None
    if isinstance(error, dict):
        return {"jsonrpc": "2.0", "id": request.id, "error": error}
    reason = PeerError(f"the host answered {status}: {error or 'no reason given'}")
    return jsonrpc.error_message(request.id, reason)
