"""Calls to one instance's own tools on a client's behalf, for one request from that client."""

from __future__ import annotations

import asyncio
from itertools import count

from callboard.content import Json, json_object
from callboard.errors import CallboardError, PeerError
from callboard.protocol.jsonrpc import Notification, Request
from callboard.protocol.peer import PeerRequest
from callboard.protocol.session import Channel, Session, SessionRequest
from callboard_programs.client.http_client import CANCELLED
from callboard_programs.relay.host_side import HostSide

#: Maximum number of requests that one transfer makes to one instance at the same time.
_AT_ONCE = 16


class CallRefused(PeerError):
    """An instance refused a call, or the call failed in the instance."""


class InstanceCalls:
    """Calls the tools of one instance. Use it on the gateway's loop. The instance's questions go to
    the client."""

    #: Used for our requests' ids: no two requests in a session may share an id, and clients' own
    #: ids are numbers.
    _ids = count(1)

    def __init__(self, name: str, side: HostSide, request: PeerRequest, session: Session) -> None:
        """``request`` is the client's request. ``session`` is the session that the instance's
        questions and messages go to."""
        self.name = name
        self._side = side
        self._session = session
        self._channel: Channel = request if isinstance(request, SessionRequest) else _Nowhere()
        meta = request.meta if isinstance(request, SessionRequest) else {}
        self._meta = {key: value for key, value in meta.items() if key != "progressToken"}
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def call(self, tool: str, arguments: Json | None = None) -> Json:
        """Return the structured result of a call. Raises CallRefused."""
        async with self._slots:
            result = await self._ask("tools/call", {"name": tool, "arguments": arguments or {}})
        content = result.get("content")
        blocks = content if isinstance(content, list) else []
        text = "\n".join(str(b.get("text", "")) for b in blocks if isinstance(b, dict))
        if result.get("isError"):
            raise CallRefused(f"{self.name}: {text or f'{tool} failed'}")
        structured = result.get("structuredContent")
        return structured if isinstance(structured, dict) else _object(self.name, text)

    async def read(self, uri: str) -> Json:
        """Return the JSON object in a resource. Raises CallRefused."""
        result = await self._ask("resources/read", {"uri": uri})
        contents = result.get("contents")
        first = contents[0] if isinstance(contents, list) and contents else {}
        return _object(self.name, str(first.get("text", "")) if isinstance(first, dict) else "")

    async def _ask(self, method: str, params: Json) -> Json:
        id = f"callboard-transfer-{next(self._ids)}"
        request = Request(id, method, {**params, "_meta": dict(self._meta)})
        try:
            return await self._side.handle(SessionRequest(self._session, request, self._channel))
        except asyncio.CancelledError:
            # Otherwise the instance would continue with the call.
            await self._side.tell(Notification(CANCELLED, {"requestId": id}))
            raise
        except CallboardError as error:
            raise CallRefused(f"{self.name}: {error.message}", data=error.data) from None


class _Nowhere:
    """The channel to a client that receives nothing but the answer to its request."""

    def send(self, message: Json) -> bool:
        return False


def _object(name: str, text: str) -> Json:
    value = json_object(text)
    if value is None:
        raise CallRefused(f"{name} answered with something other than a tool's result")
    return value
