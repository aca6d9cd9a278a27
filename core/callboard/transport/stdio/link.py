"""The bridge's connection to one host: requests of its own, and the session it keeps there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from callboard import __version__
from callboard.content import Json
from callboard.errors import HostError, ParseError
from callboard.protocol import jsonrpc
from callboard.protocol.headers import VERSION_HEADER
from callboard.protocol.opening import Talk
from callboard.protocol.stateless import SERVER_KEY
from callboard.transport.client.http import Broken, Endpoint, HttpAnswer, Unreachable, exchange
from callboard.transport.client.http_client import (
    POST_HEADERS,
    SESSION_HEADER,
    HttpClient,
    RemoteError,
)
from callboard.transport.instances import Instance
from callboard.transport.stdio.known import LISTS, Known

#: Seconds for what needs no work of the host's.
QUICK = 5.0
_NOBODY = {"name": "callboard-stdio", "version": __version__}
_EVERYTHING = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


Result = TypeVar("Result")


class Link:
    """One running host. It is there for as long as the stream of changes that we listen to."""

    def __init__(
        self, instance: Instance, on_changed: Callable[[], None], client_info: Json
    ) -> None:
        """``client_info`` is what the client calls itself: hosts show it to their artist."""
        self.instance = instance
        self.session: HostConnection | None = None
        self.opening = asyncio.Lock()
        self.closed = asyncio.Event()
        self._endpoint = Endpoint.at(instance.url, instance.token)
        self._on_changed = on_changed
        self._listening_now = asyncio.Event()
        #: The bridge's own requests; the client's are passed on as they are.
        talk = Talk(client_info or _NOBODY, True, {})
        self._own = HttpClient(self._endpoint, talk, notified=self._notified)
        self._listening: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connects. Raises Unreachable, Broken."""
        self._listening = asyncio.get_running_loop().create_task(self._listen())
        self._listening.add_done_callback(lambda task: self.closed.set())
        waiting = asyncio.ensure_future(self._listening_now.wait())
        await asyncio.wait(
            [waiting, self._listening], timeout=QUICK, return_when=asyncio.FIRST_COMPLETED
        )
        waiting.cancel()
        if not self._listening_now.is_set():
            self.close()
            raise Unreachable("the host did not answer")

    def close(self) -> None:
        self.closed.set()
        if self._listening is not None:
            self._listening.cancel()
        if self.session is not None:
            self.session.close()

    async def while_open(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What comes of the work. Raises Broken where the connection is given up first."""
        working = asyncio.ensure_future(work)
        closing = asyncio.ensure_future(self.closed.wait())
        try:
            await asyncio.wait([working, closing], return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise Broken("the connection was given up")
            return working.result()
        finally:
            working.cancel()
            closing.cancel()

    @asynccontextmanager
    async def post(
        self, value: Json, headers: Mapping[str, str], sent: asyncio.Event | None = None
    ) -> AsyncIterator[HttpAnswer]:
        """Sends one message. Raises Unreachable, Broken."""
        body = jsonrpc.encode(value)
        async with exchange(
            self._endpoint, "POST", {**POST_HEADERS, **headers}, body, sent
        ) as answer:
            yield answer

    @asynccontextmanager
    async def get(self, headers: Mapping[str, str]) -> AsyncIterator[HttpAnswer]:
        """Opens a session's own stream. Raises Unreachable, Broken."""
        headers = {"Accept": "text/event-stream", **headers}
        async with exchange(self._endpoint, "GET", headers) as answer:
            yield answer

    async def delete(self, headers: Mapping[str, str]) -> None:
        """Ends a session. Raises Unreachable, Broken."""
        async with exchange(self._endpoint, "DELETE", headers):
            pass

    async def known(self) -> Known:
        """What the host says of itself and what it lists. Raises Unreachable, Broken."""
        discovered = await self._ask("server/discover") or {}
        introduction = {
            "capabilities": discovered.get("capabilities", {}),
            "serverInfo": discovered.get("_meta", {}).get(SERVER_KEY, {}),
        }
        if "instructions" in discovered:
            introduction["instructions"] = discovered["instructions"]
        return Known(introduction, {key: await self._list(key) for key in LISTS})

    async def _list(self, key: str) -> list[Json]:
        entries: list[Json] = []
        params: Json = {}
        while True:
            page = await self._ask(LISTS[key], params)
            if page is None:
                return entries  # a host without prompts refuses to list them
            entries += page.get(key, [])
            if "nextCursor" not in page:
                return entries
            params = {"cursor": page["nextCursor"]}

    async def _ask(self, method: str, params: Json | None = None) -> Json | None:
        """A request of the bridge's own; None where the host answers with an error."""
        try:
            return await self._own.request(method, params or {})
        except RemoteError:
            return None

    async def _listen(self) -> None:
        try:
            await self._own.request("subscriptions/listen", {"notifications": _EVERYTHING})
        except (RemoteError, HostError):
            return

    def _notified(self, method: str, params: Json) -> None:
        if method == "notifications/subscriptions/acknowledged":
            self._listening_now.set()
        else:
            self._on_changed()


class HostConnection:
    """The client's session with a host, as the host knows it."""

    def __init__(self, link: Link, response: Json, headers: Mapping[str, str]) -> None:
        self.link = link
        #: The host's answer to ``initialize``.
        self.response = response
        self.headers = headers
        self._reading: asyncio.Task[Any] | None = None

    @staticmethod
    async def open(link: Link, message: Json) -> HostConnection:
        """Sends ``initialize``. Raises Unreachable: nothing is lost where it isn't answered."""
        try:
            return await asyncio.wait_for(HostConnection._open(link, message), QUICK)
        except asyncio.TimeoutError:
            raise Unreachable("the host did not answer initialize") from None
        except Broken as error:
            raise Unreachable(error.message) from None

    @staticmethod
    async def _open(link: Link, message: Json) -> HostConnection:
        async with link.post(message, {}) as answer:
            body = await answer.body()
            try:
                response = jsonrpc.decode(body)
                version = response.get("result", {}).get("protocolVersion", "")
            except (ParseError, AttributeError):
                raise Broken(f"the host answered initialize with {answer.status}") from None
            id = answer.headers.get(SESSION_HEADER)
        if id is None or not isinstance(version, str):
            return HostConnection(link, response, {})
        return HostConnection(link, response, {SESSION_HEADER: id, VERSION_HEADER: version})

    def read(self, pump: Callable[[HttpAnswer], Awaitable[None]]) -> None:
        """Opens the session's own stream, and hands it to ``pump``."""
        self._reading = asyncio.get_running_loop().create_task(self._read(pump))

    async def _read(self, pump: Callable[[HttpAnswer], Awaitable[None]]) -> None:
        try:
            async with self.link.get(self.headers) as answer:
                await pump(answer)
        except (Unreachable, Broken):
            pass
        # Without it the client would miss what the host asks and tells; so begin anew.
        self.link.close()

    async def send(self, message: Json) -> None:
        """Sends what has no answer: a notification, or the client's answer to the host. One that
        can't be delivered is dropped, as the call that it belongs to will be."""
        try:
            await asyncio.wait_for(self._send(message), QUICK)
        except (Unreachable, Broken, asyncio.TimeoutError):
            return

    async def _send(self, message: Json) -> None:
        async with self.link.post(message, self.headers) as answer:
            await answer.body()

    async def end(self) -> None:
        """Tells the host that the client is gone, if it can be told soon."""
        self.close()
        try:
            await asyncio.wait_for(self.link.delete(self.headers), 1.0)
        except (Unreachable, Broken, asyncio.TimeoutError):
            return

    def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
