"""Keeps the bridge connected: looks for a host while none is there, learns what it offers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from callboard.clients.kept_tokens import read_token
from callboard.content import Json
from callboard.errors import HostError, PeerError
from callboard.protocol.jsonrpc import Request
from callboard.protocol.stateless import CLIENT_KEY
from callboard.transport.instances import Instance
from callboard.transport.stdio.choosing import HostChoice
from callboard.transport.stdio.finder import HostFinder
from callboard.transport.stdio.known import Known, last_known
from callboard.transport.stdio.link import QUICK, Link
from callboard.transport.stdio.offline import OfflineServer

log = logging.getLogger(__name__)

#: Seconds between two looks at the folder of instances, while no host is there.
LOOK_EVERY = 0.5
#: Seconds that a request waits for a look that is under way.
_PATIENCE = 10.0


class HostKeeper:
    """The connection to whichever host is there. On the bridge's loop."""

    def __init__(
        self,
        wanted: str | None,
        prepare: Callable[[Link], Awaitable[None]],
        tell: Callable[[], None],
        client: str | None = None,
    ) -> None:
        """``prepare`` makes a new connection ready for requests, and may raise HostError; ``tell``
        is called once requests go to it, and once there are several to choose from. ``client``
        names whose token is presented."""
        self._client = client
        #: What the client calls itself, for the bridge's own requests too.
        self.client_info: Json = {}
        self.choice = HostChoice(
            lambda: asyncio.to_thread(self._finder.running), self._connected_to, self._choose
        )
        self.offline = OfflineServer(last_known(wanted), self.choice)
        self.link: Link | None = None
        self._prepare = prepare
        self._tell = tell
        self._finder = HostFinder(wanted)
        self._connected = asyncio.Event()
        self._heard = asyncio.Event()
        self._looked = asyncio.Event()
        self._look_now = asyncio.Event()
        self._learning: asyncio.Task[None] | None = None

    def hear(self, request: Request) -> None:
        """Takes who asks from a request that says so; hosts are looked for from then on."""
        meta = request.params.get("_meta")
        info = request.params.get("clientInfo") or (
            meta.get(CLIENT_KEY) if isinstance(meta, dict) else None
        )
        if isinstance(info, dict):
            self.client_info = info
        if request.method != "ping":
            self._heard.set()

    async def link_for(self, request: Request) -> Link | None:
        """Where this request goes; None where the bridge answers it."""
        return None if self.choice.takes(request) else await self.current()

    async def current(self) -> Link | None:
        """The host that is there, after a look for one where none is."""
        if self.link is None:
            self._looked.clear()
            self._look_now.set()
            try:
                await asyncio.wait_for(self._looked.wait(), _PATIENCE)
            except asyncio.TimeoutError:
                return None
        return self.link

    async def next(self) -> Link:
        """The host that is there, or the next one that comes."""
        while self.link is None:
            self._connected.clear()
            await self._connected.wait()
        return self.link

    def drop(self, link: Link) -> None:
        """Gives a connection up; another one is looked for."""
        link.close()
        if self.link is link:
            self.link = None

    async def run(self) -> None:
        """Never ends by itself."""
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
            await link.closed.wait()
            self.drop(link)

    async def _pause(self) -> None:
        """Until a request asks for a host, or a file changed. Always a moment: a host that refuses
        would be asked again at once, and again."""
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
        if instance is None:
            self._offer_choice()
            return None
        if self._client is not None and instance.token is not None:
            try:
                token = await asyncio.to_thread(read_token, self._client)
            except PeerError as refused:
                self.offline.reason = refused.message
                return None
            instance = replace(instance, token=token)
        link = Link(instance, lambda: self._learn_again(link), self.client_info)
        try:
            await link.open()
            await asyncio.wait_for(self._learn(link), QUICK)
            await self._prepare(link)
        except (HostError, asyncio.TimeoutError) as error:
            log.warning("%s (%s): %s", instance.id, instance.kind, error)
            link.close()
            self._finder.forget()
            return None
        self._finder.connected(instance)
        return link

    def _offer_choice(self) -> None:
        if self._finder.undecided and not self.choice.offered:
            self.choice.offered = True
            if not self._finder.was_connected:
                self.offline.known = Known()  # whose lists would they be?
            self._tell()

    def _connected_to(self) -> str | None:
        return None if self.link is None else self.link.instance.id

    async def _choose(self, instance: Instance) -> None:
        if self._connected_to() == instance.id:
            return
        self._finder.choose(instance)
        link = self.link
        if link is not None:
            if link.session is not None:
                await link.session.end()
            self.drop(link)
        for _ in range(2):  # the first look may have begun before the choice
            await self.current()
            if self._connected_to() == instance.id:
                return
        raise HostError(f"{instance.name} did not answer ({self.offline.reason or 'it is gone'})")

    async def _learn(self, link: Link) -> None:
        known = self.offline.known = await link.known()
        try:
            known.save(link.instance.kind)
        except OSError as error:
            log.warning("the lists can't be kept for later: %s", error)

    def _learn_again(self, link: Link) -> None:
        async def learn() -> None:
            await asyncio.sleep(LOOK_EVERY)  # changes come in bursts
            self._learning = None
            try:
                await self._learn(link)
            except HostError:
                return

        if self._learning is None:
            self._learning = asyncio.get_running_loop().create_task(learn())
