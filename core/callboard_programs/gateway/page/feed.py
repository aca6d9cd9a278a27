"""Sends the instances' events, and the clients that are waiting for approval, to all open pages.
While no page is open, no instance is asked for its events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from callboard.clients.artist_key import ARTIST_HEADER, artist_word
from callboard.clients.book import ClientBook, KnownClient
from callboard.content import Json
from callboard.errors import HostError, ParseError
from callboard.protocol import jsonrpc
from callboard.rest.artist_routes import EVENTS
from callboard.transport.http.stream import EventStream
from callboard.transport.instances import Instance, ListedInstance
from callboard_programs.client.http import Endpoint, HttpAnswer, send_request
from callboard_programs.gateway.names import HostNames
from callboard_programs.gateway.page.facts import shaped
from callboard_programs.relay.reconnect import LOOK_EVERY

#: Maximum number of bytes in one message from an instance.
MOST_EVENTS = 4 * 1024 * 1024
#: Minimum seconds between two messages from an instance. An instance that sends more has to wait.
PACE = 0.05
#: Seconds until an instance whose stream broke off is asked again, and maximum seconds for which an
#: instance may be silent.
AGAIN, PATIENCE = 1.0, 60.0


def endpoint_of(instance: Instance, path: str) -> Endpoint:
    """Return the endpoint for requests to a path of an instance, in this user's own name."""
    token = instance.token
    endpoint = Endpoint.at(instance.url, token, patience=PATIENCE, key=token)
    return replace(endpoint, path=path, most=MOST_EVENTS)


async def artist_headers(instance: Instance) -> dict[str, str]:
    """Return the headers that prove to an instance that its artist is asking. They are valid for
    this instance only."""
    word = await asyncio.to_thread(artist_word, instance.id)
    return {} if word is None else {ARTIST_HEADER: word}


async def problem_of(answer: HttpAnswer) -> str:
    """Return an instance's reason for refusing a request. Raises HostError."""
    try:
        reported = jsonrpc.decode(await answer.body())
    except ParseError:
        reported = None
    detail = reported.get("detail") if isinstance(reported, dict) else None
    return str(detail or f"it answered {answer.status}")[:1000]


def _newcomer(known: KnownClient) -> Json:
    about = {"id": known.id, "name": known.name, "fingerprint": known.fingerprint}
    return {**about, "address": known.asks_from, "program": known.asks_as, "made": known.made}


class _Watch:
    """Follows the events of the instance with a given name."""

    def __init__(self, name: str, entry: ListedInstance, changed: Callable[[str], None]) -> None:
        self.entry = entry
        self._name = name
        self._changed = changed
        self._status: Json | None = None
        self._problem = ""
        self._over = False
        self._task = asyncio.ensure_future(self._run())

    def end(self) -> None:
        """End the watch, because its instance has ended or no page is open."""
        # The flag is needed too: before Python 3.12, a wait that ends at that very moment misses
        # its cancellation, and the loop below would go on forever.
        self._over = True
        self._task.cancel()

    def message(self) -> Json:
        """Return the message about the instance for the page."""
        instance = self.entry.instance
        address = urlsplit(instance.url)
        about = {
            "id": instance.id,
            "kind": instance.kind,
            "application": instance.name,
            "pid": instance.pid,
            "started": instance.started,
            "scene": instance.scene,
            "address": f"{address.hostname}:{address.port}",
            "state": self.entry.state,
        }
        reported = {"status": self._status, "problem": self._problem}
        return {"type": "instance", "name": self._name, "about": about, **reported}

    async def _run(self) -> None:
        while not self._over:
            try:
                await self._listen()
                self._problem = "it ended"
            except HostError as error:
                self._problem = error.message[:1000]
            self._status = None
            self._changed(self._name)
            await asyncio.sleep(AGAIN)

    async def _listen(self) -> None:
        instance = self.entry.instance
        headers = {"Accept": "text/event-stream", **await artist_headers(instance)}
        async with send_request(endpoint_of(instance, EVENTS), "GET", headers) as answer:
            if answer.status == 404:
                raise HostError("its callboard is too old to send events to this page; update it")
            if answer.status != 200:
                raise HostError(await problem_of(answer))
            async for reported in answer.messages():
                if self._over:
                    return
                self._status, self._problem = shaped(reported), ""
                self._changed(self._name)
                await asyncio.sleep(PACE)


class PageFeed:
    """Passes the instances' events on to every open page. Use it on the gateway's loop."""

    def __init__(self, names: HostNames, clients: ClientBook) -> None:
        self._names = names
        self._clients = clients
        self._newcomers: list[Json] = []
        self._watches: dict[str, _Watch] = {}
        self._pages: set[EventStream] = set()
        self._looking: asyncio.Task[None] | None = None

    def attend(self, page: EventStream) -> Callable[[], None]:
        """Send a page the current state, then every change. Return a function that stops these
        updates."""
        self._renew()
        names = list(self._watches)
        page.send({"type": "names", "names": names})
        page.send({"type": "newcomers", "newcomers": self._newcomers})
        for watch in self._watches.values():
            page.send(watch.message())
        self._pages.add(page)
        if self._looking is None:
            self._looking = asyncio.ensure_future(self._keep_looking())
        return lambda: self._leave(page)

    def entry(self, name: object) -> ListedInstance | None:
        """Return the instance with that name."""
        return self._names.current().get(name) if isinstance(name, str) else None

    def close(self) -> None:
        for page in list(self._pages):
            self._leave(page)

    def _leave(self, page: EventStream) -> None:
        self._pages.discard(page)
        if self._pages or self._looking is None:
            return
        self._looking.cancel()
        self._looking = None
        for name in list(self._watches):
            self._watches.pop(name).end()

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY / 2)
            self._renew()

    def _renew(self) -> None:
        running = self._names.current()
        before = list(self._watches)
        for name, watch in list(self._watches.items()):
            entry = running.get(name)
            if entry is None or entry.instance.id != watch.entry.instance.id:
                self._watches.pop(name).end()
            elif entry != watch.entry:
                watch.entry = entry
                self._tell(name)
        for name, entry in running.items():
            if name not in self._watches:
                self._watches[name] = _Watch(name, entry, self._tell)
                self._tell(name)
        if before != list(self._watches):
            self._send({"type": "names", "names": list(self._watches)})
        newcomers = [_newcomer(one) for one in self._clients.newcomers()]
        if newcomers != self._newcomers:
            self._newcomers = newcomers
            self._send({"type": "newcomers", "newcomers": newcomers})

    def _tell(self, name: str) -> None:
        watch = self._watches.get(name)
        if watch is not None:
            self._send(watch.message())

    def _send(self, message: Json) -> None:
        for page in list(self._pages):
            page.send(message)
