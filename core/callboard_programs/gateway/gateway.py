"""The gateway process: its listener, its addresses, and the access that clients have."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from time import monotonic, time

from callboard.clients.artist_key import make_artist_key
from callboard.clients.book import ClientBook
from callboard.clients.holder import TokenHolder, new_token
from callboard.errors import HostError
from callboard.ground.live_process import start_ticks
from callboard.ground.version import __version__
from callboard.protocol.subscriptions import Topic
from callboard.settings import SettingsError, locked, why_off
from callboard.transport.http.incoming_request import IncomingRequest
from callboard.transport.http.listener import Listener
from callboard.transport.instances import Announcement, Instance, new_id
from callboard.transport.policy_watch import PolicyWatch
from callboard_programs.gateway import running_gateway
from callboard_programs.gateway.capability_requests import CapabilityRequests
from callboard_programs.gateway.conversations import StatelessConversations
from callboard_programs.gateway.directory import LISTED_OF_ALL, Directory
from callboard_programs.gateway.kept_address import KeptAddress, keep_address, read_address
from callboard_programs.gateway.kept_names import kept_names
from callboard_programs.gateway.named_hosts import PREFIX, NamedHosts
from callboard_programs.gateway.names import HostNames
from callboard_programs.gateway.other_machines import Outside, RemoteListener
from callboard_programs.gateway.own_endpoint import OwnEndpoint
from callboard_programs.gateway.own_server import GatewayServer
from callboard_programs.gateway.page.access import BELOW, PageAccess, PageLogin
from callboard_programs.gateway.page.endpoint import PageEndpoint
from callboard_programs.gateway.page.feed import PageFeed
from callboard_programs.relay.last_known import GATEWAY
from callboard_programs.relay.reconnect import LOOK_EVERY

log = logging.getLogger(__name__)

#: Maximum seconds for notifying the hosts that their clients are gone.
_FAREWELL = 5.0


class Gateway:
    """The gateway, which runs on its own event loop."""

    def __init__(
        self,
        port: int | None = None,
        *,
        token: bool = True,
        idle: float | None = None,
        outside: Outside | None = None,
        records: bool = True,
    ) -> None:
        """If ``port`` is None, the gateway uses its last port again. If it is 0, any free port is
        used. If ``token`` is true, clients need a token. The gateway ends once nothing has needed
        it for ``idle`` seconds, or never if ``idle`` is None. ``outside`` is the address for other
        machines, if there is one. If ``records`` is true, the gateway records the capabilities that
        its clients needed but didn't find."""
        self.id = new_id()
        self._idle = idle
        self._kept = read_address()
        self._port = self._kept.port if port is None else port
        self.token = (self._kept.token or new_token()) if token else None
        self._clients = ClientBook()
        self._names = HostNames()
        self._listener = Listener()
        self._remote = None if outside is None else RemoteListener(outside, self._clients)
        self._stateless = StatelessConversations(self._names)
        self._named = NamedHosts(self._names, self._stateless)
        self._directory = Directory(self._names, self._list_changed)
        self._requests = CapabilityRequests(keeps=records)
        self._server = GatewayServer(self._names, self._directory, self._requests)
        self._own = OwnEndpoint(self._server, self._stateless)
        self._login = PageLogin()
        self._feed = PageFeed(self._names, self._clients)
        self._access: PageAccess
        self._page = PageEndpoint(self._login, self._feed, lambda: self._access)
        self._watching: asyncio.Task[None] | None = None
        self._policy = PolicyWatch(self._policy_changed)
        self._announcement = Announcement(running_gateway.folder())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.port}/mcp"

    def page_link(self) -> str:
        """Return a link that opens the gateway's page in one browser. Call this on the gateway's
        loop, once the gateway is serving."""
        return self._page.link()

    @property
    def remote_url(self) -> str | None:
        """The address that `callboard connect` uses on other machines."""
        return None if self._remote is None else self._remote.url

    async def serve(self, ready: Callable[[], None], ending: asyncio.Event) -> None:
        """Call ``ready`` once the gateway is serving, and return after ``ending`` is set. Raises
        HostError."""
        kept_names()  # This raises HostError if the names can't be read.
        try:
            self._listener.bind(self._port)
        except OSError as error:
            raise HostError(
                f"can't listen on port {self._port} ({error.strerror or error}): another gateway "
                "may be running; if not, choose another port with --port, which is then remembered"
            ) from None
        if self._port and self.token is not None:
            self._keep(KeptAddress(self._port, self.token))
        try:
            make_artist_key()
        except OSError as error:
            log.warning("the page can't show or do anything: its key can't be saved: %s", error)
        if self._remote is not None:
            self._remote.take_port()
            self._remote.route("/mcp", self._own)
            self._remote.route(PREFIX, self._named)
            await self._remote.open()
        self._listener.route("/v1/healthz", self._is_well)
        self._listener.route("/mcp", self._own)
        self._listener.route(PREFIX, self._named)
        self._listener.route("/", self._page)
        self._listener.route(BELOW, self._page)
        for kept in (self._named.sessions, self._own.sessions, self._stateless):
            self._listener.sweeps.watch(kept.expire)
        self._listener.sweeps.watch(self._clients.reread)
        self._listener.sweeps.watch(self._policy.check)
        self._clients.revoked.watch(self._end_client)
        self._access = PageAccess(self._listener.port, self.token, self._clients.find, self._login)
        await self._listener.start(self._access)
        self._watching = asyncio.ensure_future(self._watch(ending))
        self._announce()
        try:
            ready()
            await ending.wait()
        finally:
            self._announcement.end()
            self._watching.cancel()
            self._page.close()
            self._feed.close()
            self._directory.close()
            self._own.close()
            ending_calls = asyncio.gather(
                self._named.stop(), self._server.close(), self._stateless.close()
            )
            # A host that hangs must not keep the gateway from ending.
            await asyncio.wait([ending_calls], timeout=_FAREWELL)
            await self._listener.stop()
            if self._remote is not None:
                await self._remote.stop()
            await asyncio.to_thread(self._requests.close)

    def _announce(self) -> None:
        pid = os.getpid()
        about = (self.id, GATEWAY, "Gateway", self.url, self.token, pid, time())
        self._announcement.begin(Instance(*about, ticks=start_ticks(pid), version=__version__))

    async def _policy_changed(self) -> None:
        """Close or open the ports, as the machine's new policy requires."""
        try:
            why = await asyncio.to_thread(why_off)
            listens = await asyncio.to_thread(locked, "listen") is not False
            if why is None and self.token is None and locked("auth") is not None:
                why = "this machine's policy wants a token of every client; start the gateway again"
        except SettingsError as error:
            why, listens = error.message, False
        if why is not None:
            log.warning("%s", why)
            self._announcement.end()
            await self._listener.close_port()
        elif not self._listener.is_open:
            try:
                self._listener.bind(self._listener.port)
            except OSError as error:
                log.warning("the gateway's port is taken; start the gateway again: %s", error)
                return
            await self._listener.open_port(self._access)
            self._announce()
        await self._open_remote(listens and self._listener.is_open)

    async def _open_remote(self, wanted: bool) -> None:
        remote = self._remote
        if remote is None or remote.is_open == wanted:
            return
        if not wanted:
            log.warning("this machine's policy no longer allows connections from other machines")
            await remote.close_port()
            return
        remote.bind(remote.port)
        await remote.open_port(remote.access)

    def _keep(self, address: KeptAddress) -> None:
        try:
            keep_address(address)
        except OSError as error:
            log.warning("port and token can't be saved for the next start: %s", error)

    def _is_well(self, incoming: IncomingRequest) -> None:
        incoming.respond_json(200, {"instance": self.id})

    @property
    def _needed(self) -> bool:
        """True while an instance is running or a client is connected."""
        clients = len(self._named.sessions) + len(self._own.sessions)
        return bool(clients or self._names.current() or self._listener.busy)

    async def _watch(self, ending: asyncio.Event) -> None:
        """Name new instances promptly and in the order in which they appear, so that none takes the
        name of an earlier one. Set ``ending`` once nothing has needed the gateway for long
        enough."""
        generation, needed = 0, monotonic()
        while True:
            try:
                if await asyncio.to_thread(self._names.changed):
                    await asyncio.to_thread(self._names.refresh)
            except OSError as error:
                log.warning("the running instances can't be listed: %s", error)
            if generation != self._names.generation:
                generation = self._names.generation
                for topic in LISTED_OF_ALL:
                    self._list_changed(topic)
            if len(self._own.sessions) + len(self._own.subscriptions):
                self._directory.follow()
            if self._needed:
                needed = monotonic()
            elif self._idle is not None and monotonic() - needed >= self._idle:
                ending.set()
            await asyncio.sleep(LOOK_EVERY)

    def _list_changed(self, topic: Topic) -> None:
        """Notify the clients of ``/mcp`` that a list across all instances has changed."""
        self._own.subscriptions.list_changed(topic)

    def _end_client(self, holder: TokenHolder) -> None:
        for ended in (self._named, self._own, self._stateless):
            ended.end(holder)
        self._listener.end(holder)
        if self._remote is not None:
            self._remote.end(holder)
