"""Keeps a client connected: looks for a host while there is none, and reads the host's lists."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from callboard.content import Json
from callboard.errors import HostError, PeerError
from callboard.protocol.jsonrpc import Request
from callboard.protocol.peer import PeerRequest
from callboard.protocol.stateless import CLIENT_KEY
from callboard.transport.instances import Instance
from callboard_programs.client.http import NotLetIn
from callboard_programs.relay.choose_tool import HostChoice
from callboard_programs.relay.finder import Finder
from callboard_programs.relay.last_known import GATEWAY, KnownHost, last_known
from callboard_programs.relay.link import QUICK, Link
from callboard_programs.relay.offline import (
    GATEWAY_OFFLINE_TEXT,
    HOST_OFFLINE_TEXT,
    OfflineServer,
)

log = logging.getLogger(__name__)

#: Seconds between two checks of the folder of instances.
LOOK_EVERY = 0.5
#: Seconds that a request waits for a search to finish.
_PATIENCE = 10.0


#: Returns the token for an instance, or None if the instance doesn't need one. It runs on a worker
#: thread and may raise PeerError.
Present = Callable[[Instance], str | None]


def own_token(instance: Instance) -> str | None:
    """Return the instance's own token, which this user's command line presents."""
    return instance.token


def _ignore_notifications(link: Link, method: str, params: Json) -> None:
    """Do nothing, because each client listens to its host directly."""


class Reconnector:
    """The connection to the current host. Use it on a single event loop."""

    def __init__(
        self,
        finder: Finder,
        prepare: Callable[[Link], Awaitable[None]],
        tell: Callable[[], None],
        present: Present = own_token,
        reported: Callable[[Link, str, Json], None] = _ignore_notifications,
    ) -> None:
        """``prepare`` makes a new connection ready for requests, and may raise HostError. ``tell``
        is called when requests begin to use the new connection, and when there are several hosts to
        choose from. ``reported`` receives a host's notifications about its lists."""
        self._present = present
        self._reported = reported
        #: The client's own name and version, which this object's own requests carry too.
        self.client_info: Json = {}
        self.choice = HostChoice(
            lambda: asyncio.to_thread(finder.running), self._connected_to, self._choose
        )
        offline = GATEWAY_OFFLINE_TEXT if finder.kind == GATEWAY else HOST_OFFLINE_TEXT
        self.offline = OfflineServer(last_known(finder.kind), self.choice, offline)
        self.link: Link | None = None
        #: A connection that isn't ready for requests yet.
        self._connecting: Link | None = None
        self._prepare = prepare
        self._tell = tell
        self._finder = finder
        self._connected = asyncio.Event()
        self._heard = asyncio.Event()
        self._looked = asyncio.Event()
        self._look_now = asyncio.Event()
        #: The tasks that read a host's lists again, and whether one of them hasn't begun to.
        self._learning: set[asyncio.Task[None]] = set()
        self._learns_soon = False

    def hear(self, request: Request) -> None:
        """Read the client's name from a request that contains it, and begin to look for hosts."""
        meta = request.params.get("_meta")
        info = request.params.get("clientInfo") or (
            meta.get(CLIENT_KEY) if isinstance(meta, dict) else None
        )
        if isinstance(info, dict):
            self.client_info = info
        if request.method != "ping":
            self.begin()

    def begin(self) -> None:
        """Begin to look for hosts."""
        self._heard.set()

    async def link_for(self, request: Request | PeerRequest) -> Link | None:
        """Return the host for this request, or None if the bridge answers it."""
        if self.choice.offered and self.choice.takes(request):
            return None
        return await self.current()

    async def directed(self, params: Json) -> Json:
        """Return the params of a tool call for the host, as ``HostChoice.directed`` does where
        there are several hosts."""
        arguments = params.get("arguments")
        if not self.choice.offered and isinstance(arguments, dict) and "host" in arguments:
            await self.current()  # The search shows how many hosts there are.
        return await self.choice.directed(params) if self.choice.offered else params

    async def current(self) -> Link | None:
        """Return the current host. If there is none, or it is no longer the intended one, look for
        a host first."""
        link = self.link
        if link is not None and not await self._is_meant(link):
            self.drop(link)
        if self.link is None:
            self._looked.clear()
            self._look_now.set()
            try:
                await asyncio.wait_for(self._looked.wait(), _PATIENCE)
            except asyncio.TimeoutError:
                return None
        return self.link

    async def next(self) -> Link:
        """Return the current host, or wait for the next one."""
        while self.link is None:
            self._connected.clear()
            await self._connected.wait()
        return self.link

    async def _is_meant(self, link: Link) -> bool:
        written = link.written_now()
        if written != link.written:
            if not await asyncio.to_thread(self._finder.leads_to, link.instance):
                return False
            link.written = written
        return True

    def drop(self, link: Link) -> None:
        """Drop a connection, and look for another host."""
        link.close()
        if self.link is link:
            self.link = None

    async def end(self) -> None:
        """Notify the host that the client is gone, even if the connection isn't ready yet."""
        for link in (self.link, self._connecting):
            if link is not None:
                await link.end()

    async def run(self) -> None:
        """Keep the client connected until this task is cancelled."""
        try:
            await self._keep_connected()
        finally:
            for task in tuple(self._learning):
                task.cancel()
            if self.link is not None:
                self.link.close()

    async def _keep_connected(self) -> None:
        await self._heard.wait()
        while True:
            link = await self._connect()
            if link is None:
                self._looked.set()
                await self._pause()
                continue
            self.link = link
            self._connected.set()
            self._looked.set()
            self._tell()
            # Before Python 3.12, wait_for misses a cancellation that arrives just as the wait ends.
            closing = asyncio.ensure_future(link.closed.wait())
            try:
                while not link.closed.is_set() and await self._is_meant(link):
                    await asyncio.wait([closing], timeout=LOOK_EVERY)
            finally:
                closing.cancel()
            self.drop(link)

    async def _pause(self) -> None:
        """Wait until a request asks for a host or a file has changed. Files are checked only after
        a brief wait, so that a host that refuses isn't asked again and again without a pause."""
        while True:
            try:
                await asyncio.wait_for(self._look_now.wait(), LOOK_EVERY)
                break
            except asyncio.TimeoutError:
                if self._finder.changed():
                    break
        self._look_now.clear()

    async def _connect(self) -> Link | None:
        instance = await asyncio.to_thread(self._finder.find)
        self.offline.reason = self._finder.reason
        self.offline.undecided = self._finder.undecided
        self.offline.refusal = self._finder.refusal
        if instance is None:
            self._offer_choice()
            return None
        key = instance.token
        if key is not None:
            try:
                token = await asyncio.to_thread(self._present, instance)
            except PeerError as refused:
                self.offline.reason = refused.message
                return None
            instance = replace(instance, token=token)

        def reported(method: str, params: Json) -> None:
            if method.endswith("/list_changed"):
                self._learn_again(link)
            self._reported(link, method, params)

        link = Link(instance, reported, self.client_info, key)
        self._connecting = link
        try:
            await link.open()
            await asyncio.wait_for(self._learn(link), QUICK)
            await self._prepare(link)
        except (HostError, asyncio.TimeoutError) as error:
            why = str(error) or "it did not answer in time"
            log.warning("%s (%s): %s", instance.id or instance.name, instance.kind, why)
            self.offline.reason = f"{instance.name} can't be used: {why}"
            if isinstance(error, NotLetIn):
                self.offline.refusal = NotLetIn(
                    f"{instance.name} doesn't let this client in: {why}"
                )
            link.close()
            self._finder.forget()
            return None
        except asyncio.CancelledError:
            link.close()  # Nothing else uses this link yet.
            raise
        self._connecting = None
        self._finder.connected(instance)
        return link

    def _offer_choice(self) -> None:
        if self._finder.undecided and not self.choice.offered:
            self.choice.offered = True
            if not self._finder.was_connected:
                self.offline.known = KnownHost()  # Perhaps no running host has the saved lists.
            self._tell()

    def _connected_to(self) -> str | None:
        return None if self.link is None else self.link.instance.id

    async def _choose(self, instance: Instance) -> None:
        if self._connected_to() == instance.id:
            return
        self._finder.choose(instance)
        link = self.link
        if link is not None:
            await link.end()
            self.drop(link)
        for _ in range(2):  # The first search may have begun before the choice.
            await self.current()
            if self._connected_to() == instance.id:
                return
        raise HostError(f"{instance.name} did not answer ({self.offline.reason or 'it is gone'})")

    async def _learn(self, link: Link) -> None:
        known = self.offline.known = await link.known()
        try:
            known.save(link.instance.kind)
        except OSError as error:
            log.warning("the lists can't be saved for later: %s", error)

    def _learn_again(self, link: Link) -> None:
        async def learn() -> None:
            await asyncio.sleep(LOOK_EVERY)  # Changes come in bursts.
            self._learns_soon = False
            with suppress(HostError):
                await self._learn(link)

        if not self._learns_soon:
            self._learns_soon = True
            task = asyncio.get_running_loop().create_task(learn())
            self._learning.add(task)
            task.add_done_callback(self._learning.discard)
