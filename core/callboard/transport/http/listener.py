"""The listener, with its connections, access control, limits and routes.

Handlers receive an :class:`IncomingRequest`. Everything runs on the server's loop.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from callboard.changes import Changes
from callboard.clients.holder import TokenHolder
from callboard.transport import instance_proof
from callboard.transport.http.access import NOTHING_HERE, PREFLIGHT, Access, Refusal
from callboard.transport.http.body_limit import LIGHT, MOST_VALUES, is_too_much
from callboard.transport.http.incoming_request import IncomingRequest
from callboard.transport.http.limits import HttpLimits
from callboard.transport.http.plain_post import PlainConnection, PlainRequest
from callboard.transport.http.socket_stream import READ_AHEAD, SocketStream

if TYPE_CHECKING:
    from ssl import SSLContext

    from callboard.transport.http.general import GeneralConnection, GeneralServer
    from callboard.transport.http.handshakes import Handshakes

log = logging.getLogger(__name__)
TOO_MANY_VALUES = Refusal(
    413, f"the body holds more than {MOST_VALUES:,} values; send them in parts, or in a file"
)

#: The number of connections that may wait to be accepted.
BACKLOG = 128
#: Number of iterations of the loop after which asyncio reports a connection that it has accepted.
_TURNS_TO_COME_IN = 3

RequestHandler = Callable[["IncomingRequest"], None]


class Listener:
    """One listening port and its routes, by path. A route that ends in ``/`` serves every path
    under it, except for ``/`` itself, which serves only that path."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self._address = address
        #: May be replaced before the listener starts.
        self.limits = HttpLimits()
        self._routes: dict[str, RequestHandler] = {}
        self._weighing: set[asyncio.Task[None]] = set()
        #: Allows only one body to be checked at a time, because parallel checks would slow each
        #: other down.
        self._scales = asyncio.Lock()
        self._prefixes: list[tuple[str, RequestHandler]] = []
        #: The current request of each open connection.
        self.incoming_requests: dict[SocketStream, IncomingRequest] = {}
        self._general: GeneralServer | None = None
        #: The opening time of each connection without an admitted request, the oldest first.
        self.strangers: dict[SocketStream, float] = {}
        #: Connections that are closed on our side while their clients still send.
        self.lingering: set[SocketStream] = set()
        self._server: asyncio.Server | None = None
        self._tls: SSLContext | None = None
        self._handshakes: Handshakes | None = None
        self._sweeper: asyncio.Task[None] | None = None
        self.access: Access
        self.port = 0
        #: Notified every few seconds, on the loop.
        self.sweeps: Changes[[]] = Changes()

    def route(self, path: str, handler: RequestHandler) -> None:
        if path.endswith("/") and path != "/":
            self._prefixes.append((path, handler))
        else:
            self._routes[path] = handler

    def handler(self, path: str) -> RequestHandler | None:
        """Return the handler of the path, or None."""
        below = (each for prefix, each in self._prefixes if path.startswith(prefix))
        return self._routes.get(path) or next(below, None)

    def bind(self, port: int) -> None:
        """Bind to ``port``, or to any free port if that is 0. The attribute ``port`` then holds the
        number. Raises OSError."""
        self._socket = bound(self._address, port, BACKLOG)
        self.port = self._socket.getsockname()[1]

    async def start(self, access: Access, tls: SSLContext | None = None) -> None:
        self._tls = tls
        self.route(instance_proof.PATH, self._prove)
        await self.open_port(access)
        self._sweeper = asyncio.get_running_loop().create_task(self._sweep())

    async def open_port(self, access: Access) -> None:
        """Accept connections on the port that :meth:`bind` took."""
        self.access = access
        loop, tls = asyncio.get_running_loop(), self._tls
        # Connections accepted in one iteration of the loop all arrive before the oldest stranger is
        # closed.
        at_once = min(BACKLOG, self.limits.handshakes)
        room = memoryview(bytearray(READ_AHEAD))
        stream = partial(SocketStream, self._connected, room)
        arrival: Callable[[], asyncio.BaseProtocol] = stream
        if tls is not None:
            # This is used only with TLS.
            from callboard.transport.http.handshakes import Handshakes

            self._handshakes = Handshakes(
                tls, self.limits.handshakes, self.limits.header_time, stream
            )
            arrival = self._handshakes.arrival
        self._server = await loop.create_server(arrival, sock=self._socket, backlog=at_once)

    @property
    def is_open(self) -> bool:
        """True while connections are accepted."""
        return self._server is not None

    @property
    def busy(self) -> bool:
        """True while a request or a stream is under way."""
        under_way = ("reading", "working", "writing")
        return any(incoming.state in under_way for incoming in self.incoming_requests.values())

    def end(self, holder: TokenHolder) -> None:
        """Close the connections whose latest request came from this client."""
        for incoming in list(self.incoming_requests.values()):
            if incoming.holder == holder:
                incoming.abort()

    async def stop(self) -> None:
        """Close the port and every connection."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        if self._server is None:
            self._socket.close()
        else:
            await self.close_port()

    async def close_port(self) -> None:
        """Close the port and every connection. The port stays closed until :meth:`bind` and
        :meth:`open_port` are called."""
        if self._server is not None:
            # A server that closes now would lose connections that it just accepted, and leave them
            # open.
            with suppress(NotImplementedError):  # Windows' own loop accepts in one iteration.
                asyncio.get_running_loop().remove_reader(self._socket)
            for _ in range(_TURNS_TO_COME_IN):
                await asyncio.sleep(0)
            self._server.close()
            self._server = None
            if self._handshakes is not None:
                await self._handshakes.stop()
            for stream, incoming in list(self.incoming_requests.items()):
                incoming.abort()
                stream.close()
            if self._general is not None:
                await self._general.stop()
                self._general = None
            for stream in list(self.lingering):
                stream.abort()
            # asyncio reports one iteration later that the connections ended.
            while self.incoming_requests or self.lingering:
                await asyncio.sleep(0)

    def _connected(self, stream: SocketStream) -> None:
        self.strangers[stream] = monotonic()
        plain = PlainConnection(stream, self._take)
        stream.serve(plain, self._read_on, self._forget)
        incoming = self._wait(stream, plain)
        if len(self.incoming_requests) > self.limits.connections:
            oldest = next(iter(self.strangers), stream)
            self.strangers.pop(oldest, None)
            shed = self.incoming_requests.get(oldest, incoming)
            asyncio.get_running_loop().call_soon(shed.abort)

    def _wait(
        self, stream: SocketStream, connection: PlainConnection | GeneralConnection
    ) -> IncomingRequest:
        """Return an object that waits for the connection's next request."""
        incoming = self.incoming_requests[stream] = IncomingRequest(self, connection, stream)
        return incoming

    def _take(self, plain: PlainConnection, request: PlainRequest) -> IncomingRequest:
        """Begin a plain request. The object that was waiting for this request then waits for the
        next one."""
        stream = plain.stream
        plain.on_end = self.incoming_requests[stream].wait_again
        incoming = self.incoming_requests[stream] = IncomingRequest(self, plain, stream)
        incoming.begin("POST", request.target, request.headers)
        return incoming

    def _read_on(self, stream: SocketStream) -> None:
        """Have Tornado read a connection, starting with its first request that isn't plain."""
        if self._general is None:
            # Loaded late, because it would take a quarter of the startup time, and most clients
            # send plain requests first.
            from callboard.transport.http.general import GeneralServer

            self._general = GeneralServer(self._wait, self._forget)
        self._general.serve(stream)

    def _forget(self, stream: SocketStream) -> None:
        self.incoming_requests.pop(stream, None)
        self.strangers.pop(stream, None)

    def _prove(self, incoming: IncomingRequest) -> None:
        incoming.respond_json(200, {"proof": self.access.proof(incoming.headers)})

    def turned_away(self, incoming: IncomingRequest) -> None:
        """Called after a request was refused. Its headers are available. Subclasses may override
        this."""

    def serve(self, incoming: IncomingRequest) -> None:
        """Pass the request on to its route. A large body is checked in a thread first."""
        if len(incoming.body) <= LIGHT:
            self._hand_over(incoming)
            return
        task = asyncio.get_running_loop().create_task(self._weigh(incoming))
        self._weighing.add(task)
        task.add_done_callback(self._weighing.discard)

    async def _weigh(self, incoming: IncomingRequest) -> None:
        async with self._scales:
            loop = asyncio.get_running_loop()
            too_much = await loop.run_in_executor(None, is_too_much, incoming.body)
        if incoming.gone:
            return
        if too_much:
            incoming.refuse(TOO_MANY_VALUES)
        else:
            self._hand_over(incoming)

    def _hand_over(self, incoming: IncomingRequest) -> None:
        """Find the route and call it. If the handler fails, answer 500, without a traceback."""
        if incoming.method == "OPTIONS":
            incoming.respond(204, headers=PREFLIGHT)
            return
        handler = self.handler(incoming.path)
        try:
            if handler is None:
                incoming.refuse(NOTHING_HERE)
            else:
                handler(incoming)
        except Exception:
            log.exception("%s %s failed", incoming.method, incoming.path)
            incoming.refuse(Refusal(500, "internal error; the log has the details"))

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(self.limits.sweep_every)
            now = monotonic()
            for incoming in list(self.incoming_requests.values()):
                incoming.sweep(now)
            # Busy strangers are closed too, because the answer to a refused request isn't worth
            # waiting for.
            for sender, opened in list(self.strangers.items()):
                if now - opened > self.limits.header_time and sender in self.incoming_requests:
                    self.incoming_requests[sender].abort()
            try:
                self.sweeps.tell()
            except Exception:  # Otherwise, nothing would notice the policy's next change.
                log.exception("a check that is made every few seconds failed")


def bound(address: str, port: int, backlog: int) -> socket.socket:
    """Return a listening, non-blocking socket. ``address`` is numeric, because looking up a name
    would block. Port 0 means any free port. Raises OSError."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if socket.has_dualstack_ipv6() and family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if os.name != "nt":
            # Otherwise a port stays taken for a minute after its server stops. On Windows the
            # option would let any program take the port over.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        listening.listen(backlog)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening
