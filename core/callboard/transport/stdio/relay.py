"""Passes messages between the client and one host: a request there; what belongs to it, and its
answer, back; the host's own questions here."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping

from callboard.content import Json
from callboard.errors import CallboardError, PeerError
from callboard.protocol import jsonrpc
from callboard.protocol.jsonrpc import Id, Request
from callboard.transport.client.http import HttpAnswer, Unreachable
from callboard.transport.client.http_client import CANCELLED
from callboard.transport.stdio.link import HostConnection, Link

Send = Callable[[Json], object]


class Relay:
    """Between one client and every host it has had. On the bridge's loop."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._asked: dict[Id, tuple[HostConnection, Id]] = {}
        self._ask_ids = itertools.count(1)

    async def exchange(
        self,
        link: Link,
        request: Request,
        value: Json,
        headers: Mapping[str, str],
        *,
        session: HostConnection | None = None,
        pass_on: Send | None = None,
        sent: asyncio.Event | None = None,
    ) -> Json | None:
        """The host's response; None where its answer ends without one, as a cancelled request's
        does. ``pass_on`` takes the notifications instead of the client. Raises Unreachable,
        Broken."""
        async with link.post(value, headers, sent) as answer:
            if session is not None and answer.status == 404:
                raise Unreachable("the host does not know this session any more")
            if answer.status >= 400:
                return _refusal(request, answer.status, await answer.body())
            return await self._pump(answer, session, request.id, pass_on or self._send)

    async def follow(self, answer: HttpAnswer, session: HostConnection) -> None:
        """Passes on what comes on a session's own stream, until it ends. Raises Broken."""
        await self._pump(answer, session, None, self._send)

    async def answered(self, id: Id, value: Json) -> None:
        """Hands the client's answer to the host that asked, if it still waits."""
        session, host_id = self._asked.pop(id, (None, id))
        if session is not None:
            await session.send({**value, "id": host_id})

    async def _pump(
        self, answer: HttpAnswer, session: HostConnection | None, id: Id | None, pass_on: Send
    ) -> Json | None:
        asked = []
        try:
            async for message in answer.messages():
                if "method" not in message:
                    if id is not None and message.get("id") == id:
                        return message
                elif "id" not in message:
                    pass_on(message)
                elif session is not None:
                    # Hosts number their questions alike; the client must not mix them up.
                    own_id = f"callboard-stdio-{next(self._ask_ids)}"
                    self._asked[own_id] = (session, message["id"])
                    asked.append(own_id)
                    self._send({**message, "id": own_id})
            return None
        finally:
            for own_id in asked:
                if self._asked.pop(own_id, None) is not None:
                    params = {"requestId": own_id, "reason": "the host does not wait any more"}
                    self._send(jsonrpc.notification_message(CANCELLED, params))


def _refusal(request: Request, status: int, body: bytes) -> Json:
    """A host's refusal as a JSON-RPC error: its own, or the reason in plain JSON as one."""
    try:
        error = jsonrpc.decode(body)["error"]
    except (CallboardError, KeyError, TypeError):
        error = None
    if isinstance(error, dict):
        return {"jsonrpc": "2.0", "id": request.id, "error": error}
    reason = PeerError(f"the host answered {status}: {error or 'no reason given'}")
    return jsonrpc.error_message(request.id, reason)
