"""The connection to one host, for our own requests and for a client's session on the host."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, Literal, TypeVar

from callboard.content import Json
from callboard.errors import INVALID_PARAMS, METHOD_NOT_FOUND, HostError, ParseError
from callboard.ground.version import __version__
from callboard.protocol import jsonrpc
from callboard.protocol.errors import HEADER_MISMATCH, UNSUPPORTED_VERSION
from callboard.protocol.handshake import Dialect
from callboard.protocol.headers import SESSION_HEADER, VERSION_HEADER
from callboard.protocol.revisions import NEWEST_WITH_SESSIONS
from callboard.protocol.stateless import SERVER_KEY
from callboard.transport.instances import Instance, file_of
from callboard_programs.client.http import (
    Broken,
    Endpoint,
    HttpAnswer,
    IdleConnections,
    NotLetIn,
    Unreachable,
    send_request,
)
from callboard_programs.client.http_client import (
    POST_HEADERS,
    HttpClient,
    RefusedByHttp,
    RemoteError,
)
from callboard_programs.relay.last_known import LISTS, KnownHost
from callboard_programs.relay.pages import object_in, objects_in, pages

#: Seconds allowed for a request that the host can answer without doing any work.
QUICK = 5.0
#: Maximum number of bytes in one page of a list.
OWN_LIMIT = 16 * 1024 * 1024
_NOBODY = {"name": "callboard", "version": __version__}
_EVERYTHING = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


#: The errors with which a host without sessions refuses ``initialize``. No other host has a reason
#: to use them.
_NO_SESSIONS = (UNSUPPORTED_VERSION, HEADER_MISMATCH, METHOD_NOT_FOUND, INVALID_PARAMS)

Result = TypeVar("Result")


class Link:
    """The connection to one running host. It lasts as long as the stream of changes that it listens
    to."""

    def __init__(
        self,
        instance: Instance,
        on_notification: Callable[[str, Json], None],
        client_info: Json,
        key: str | None = None,
    ) -> None:
        """``on_notification`` receives the notifications on the stream of changes. ``client_info``
        is the client's own name and version, which hosts show to their artist. ``key`` is the
        instance's own token. The instance must prove that it has this token before the client's
        token is sent to it."""
        self.instance = instance
        self._file = file_of(instance.id)
        #: The modification time of the instance's file when it was last read.
        self.written: object = None
        #: The eras that the host supports: both, until the host has refused one.
        self.era: Literal["both", "sessions", "stateless"] = "both"
        self.session: HostConnection | None = None
        self.opening = asyncio.Lock()
        self.closed = asyncio.Event()
        self._endpoint = Endpoint.at(instance.url, instance.token, key=key)
        self._idle = IdleConnections()
        self._on_notification = on_notification
        self._listening_now = asyncio.Event()
        #: The host's reason for refusing to be listened to, if it gave one.
        self._refused = ""
        self._turned_away = False
        #: The name and version in our own requests. The client's requests are passed on unchanged.
        self.client_info = client_info or _NOBODY
        self._own = self._own_client(Dialect(self.client_info, True, {}))
        #: The session for our own requests, if they need one, with the host's response to
        #: ``initialize``.
        self._own_session: HostConnection | None = None
        self._listening: asyncio.Task[None] | None = None
        self._watched: set[str] = set()
        self._watching: asyncio.Task[Json] | None = None
        self._watching_now = asyncio.Event()

    def written_now(self) -> object:
        """Return the modification time of the instance's file, or None once the file is gone."""
        try:
            return self._file.stat().st_mtime_ns
        except OSError:
            return None

    async def open(self) -> None:
        """Connect. Raises Unreachable or Broken."""
        self._listening = asyncio.get_running_loop().create_task(self._listen())
        self._listening.add_done_callback(lambda task: self.closed.set())
        await soon(self._listening_now, self._listening)
        if not self._listening_now.is_set():
            self.close()
            why = self._refused or "the host did not answer"
            raise NotLetIn(why) if self._turned_away else Unreachable(why)

    def close(self) -> None:
        self.closed.set()
        self._idle.close()
        for task in (self._listening, self._watching):
            if task is not None:
                task.cancel()
        if self.session is not None:
            self.session.close()

    async def end(self) -> None:
        """Notify the host that the client is gone, if the host answers soon, and close the
        connection."""
        for session in (self.session, self._own_session):
            if session is not None:
                await session.end()
        self.close()

    async def while_open(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Return the result of the work. Raises Broken if the connection is dropped first."""
        working = asyncio.ensure_future(work)
        closing = asyncio.ensure_future(self.closed.wait())
        try:
            await asyncio.wait([working, closing], return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise Broken("the connection was dropped")
            return working.result()
        finally:
            working.cancel()
            closing.cancel()

    def post(
        self, message: bytes, headers: Mapping[str, str]
    ) -> AbstractAsyncContextManager[HttpAnswer]:
        """Send one encoded message. Raises Unreachable or Broken."""
        fields = {**POST_HEADERS, **headers}
        return send_request(self._endpoint, "POST", fields, message, self._idle)

    def get(self, headers: Mapping[str, str]) -> AbstractAsyncContextManager[HttpAnswer]:
        """Open a session's own stream. Raises Unreachable or Broken."""
        return send_request(self._endpoint, "GET", {"Accept": "text/event-stream", **headers})

    async def delete(self, headers: Mapping[str, str]) -> None:
        """End a session. Raises Unreachable or Broken."""
        async with send_request(self._endpoint, "DELETE", headers):
            pass

    async def known(self) -> KnownHost:
        """Return the host's introduction and lists. Raises HostError."""
        if self._own_session is not None:
            discovered = object_in(self._own_session.response, "result")
            server = object_in(discovered, "serverInfo")
        else:
            try:
                discovered = await self.ask("server/discover")
            except RemoteError:
                discovered = {}
            server = object_in(object_in(discovered, "_meta"), SERVER_KEY)
        introduction: Json = {
            "capabilities": object_in(discovered, "capabilities"),
            "serverInfo": server,
        }
        if isinstance(instructions := discovered.get("instructions"), str):
            introduction["instructions"] = instructions
        return KnownHost(introduction, {key: await self._list(key) for key in LISTS})

    async def _list(self, key: str) -> list[Json]:
        entries: list[Json] = []
        try:
            async for page in pages(lambda params: self.ask(LISTS[key], params)):
                entries += objects_in(page, key)
        except RemoteError:
            return entries  # A host without prompts refuses to list them.
        return entries

    async def ask(self, method: str, params: Json | None = None) -> Json:
        """Return the result of our own request. The host can't ask any questions during such a
        request. Raises RemoteError or HostError."""
        return await self._own.request(method, params or {})

    async def watch(self, uris: set[str]) -> None:
        """Watch these resources from now on, and stop watching all earlier ones. This is for a host
        that supports a single era. With any other host, each client subscribes on its own. Raises
        RemoteError or HostError."""
        if self.era == "sessions":
            for uri in sorted(uris - self._watched):
                await self.ask("resources/subscribe", {"uri": uri})
            for uri in sorted(self._watched - uris):
                await self.ask("resources/unsubscribe", {"uri": uri})
        elif uris != self._watched:
            self._watching_now.clear()
            asking = self.ask(
                "subscriptions/listen", {"notifications": {"resourceSubscriptions": sorted(uris)}}
            )
            before, self._watching = self._watching, asyncio.ensure_future(asking)
            await soon(self._watching_now, self._watching)
            if self._watching.done():
                self._watching.result()
            if before is not None:
                before.cancel()
        self._watched = set(uris)

    def _own_client(self, talk: Dialect, session: Mapping[str, str] | None = None) -> HttpClient:
        own = replace(self._endpoint, most=OWN_LIMIT)
        return HttpClient(own, talk, notified=self._notified, session=session)

    async def _listen(self) -> None:
        try:
            await self._own.request("subscriptions/listen", {"notifications": _EVERYTHING})
        except (RemoteError, HostError) as error:
            self._refused = error.message
            refused = isinstance(error, RefusedByHttp) and error.status in (401, 403)
            self._turned_away = refused or isinstance(error, NotLetIn)
            if _knows_no_such_request(error) and not self._listening_now.is_set():
                await self._listen_in_session()

    async def _listen_in_session(self) -> None:
        opening = {
            "protocolVersion": NEWEST_WITH_SESSIONS.name,
            "capabilities": {},
            "clientInfo": dict(self.client_info),
        }
        try:
            message = jsonrpc.request_message("callboard-own", "initialize", opening)
            session = await HostConnection.open(self, message)
            if not session.headers:
                return  # The earlier refusal is more informative.
            self.era, self._own_session = "sessions", session
            await session.send(jsonrpc.notification_message("notifications/initialized"))
            self._own = self._own_client(Dialect(self.client_info, False, {}), session.headers)
            async with self.get(session.headers) as stream:
                if stream.status >= 400:
                    self._refused = (
                        f"the host refused to report changes, with status {stream.status}"
                    )
                    return
                self._listening_now.set()
                await self._own.hear(stream)
        except (Unreachable, Broken) as error:
            self._refused = error.message

    def _notified(self, method: str, params: Json) -> None:
        if method == "notifications/subscriptions/acknowledged":
            # The first acknowledgement is for the stream of changes. Later ones are for watched
            # resources.
            (self._watching_now if self._listening_now.is_set() else self._listening_now).set()
        else:
            self._on_notification(method, params)


class HostConnection:
    """The client's session with a host, as the host sees it."""

    def __init__(self, link: Link, response: Json, headers: Mapping[str, str]) -> None:
        self.link = link
        #: The host's answer to ``initialize``.
        self.response = response
        self.headers = headers
        self._reading: asyncio.Task[None] | None = None

    @staticmethod
    async def open(link: Link, message: Json) -> HostConnection:
        """Send ``initialize``. Raises Unreachable if there is no answer. In that case nothing is
        lost, and the call can be repeated."""
        try:
            return await asyncio.wait_for(HostConnection._open(link, message), QUICK)
        except asyncio.TimeoutError:
            raise Unreachable("the host did not answer initialize") from None
        except Broken as error:
            raise Unreachable(error.message) from None

    @staticmethod
    async def _open(link: Link, message: Json) -> HostConnection:
        async with link.post(jsonrpc.encode(message), {}) as answer:
            response = _decoded(await answer.body())
            version = object_in(response, "result").get("protocolVersion")
            if not (object_in(response, "error") or isinstance(version, str)):
                raise Broken(f"the host answered initialize with {answer.status} and no revision")
            id = answer.header(SESSION_HEADER)
        if id is None or not isinstance(version, str):
            return HostConnection(link, response, {})
        return HostConnection(link, response, {SESSION_HEADER: id, VERSION_HEADER: version})

    def read(self, pump: Callable[[HttpAnswer], Coroutine[Any, Any, None]]) -> asyncio.Task[None]:
        """Open the session's own stream, and pass it to ``pump``."""
        self._reading = asyncio.get_running_loop().create_task(self._read(pump))
        return self._reading

    @property
    def unknown(self) -> bool:
        """True when the host refused to open a session because it doesn't support sessions."""
        return object_in(self.response, "error").get("code") in _NO_SESSIONS

    async def _read(self, pump: Callable[[HttpAnswer], Coroutine[Any, Any, None]]) -> None:
        try:
            async with self.link.get(self.headers) as answer:
                await self.link.while_open(pump(answer))
        except (Unreachable, Broken):
            pass
        # Without the stream, the client would miss the host's questions and notifications, so the
        # connection is closed and opened again.
        self.link.close()

    async def send(self, message: Json) -> None:
        """Send a message that needs no response, such as a notification or the client's answer. A
        message that can't be delivered is dropped, because its call will be lost too."""
        try:
            await asyncio.wait_for(self._send(message), QUICK)
        except (Unreachable, Broken, asyncio.TimeoutError):
            return

    async def _send(self, message: Json) -> None:
        async with self.link.post(jsonrpc.encode(message), self.headers) as answer:
            await answer.body()

    async def end(self) -> None:
        """End the session on the host, if the host answers soon."""
        self.close()
        try:
            await asyncio.wait_for(self.link.delete(self.headers), 1.0)
        except (Unreachable, Broken, asyncio.TimeoutError):
            return

    def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()


def _knows_no_such_request(error: RemoteError | HostError) -> bool:
    """Return whether a host that supports only sessions would use this error to refuse a request
    outside of a session."""
    if isinstance(error, RefusedByHttp):
        return error.status in (400, 404, 405)
    return isinstance(error, RemoteError) and error.code == METHOD_NOT_FOUND


async def soon(event: asyncio.Event, ending: asyncio.Task[Any]) -> None:
    """Wait for an event for at most QUICK seconds, or until the task has ended."""
    waiting = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait([waiting, ending], timeout=QUICK, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()


def _decoded(body: bytes) -> Json:
    """Return the JSON object in ``body``, or an empty object for anything else."""
    try:
        response = jsonrpc.decode(body)
    except ParseError:
        return {}
    return response if isinstance(response, dict) else {}
