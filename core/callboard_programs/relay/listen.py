"""The client's ``subscriptions/listen`` streams, which stay open while hosts come and go."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from callboard.content import Json
from callboard.protocol.jsonrpc import Request
from callboard.protocol.session import Channel
from callboard.protocol.subscriptions import Subscriber, Subscriptions, Topic
from callboard_programs.client.http import Broken, Unreachable
from callboard_programs.client.http_client import RemoteError
from callboard_programs.relay.link import Link
from callboard_programs.relay.reconnect import Reconnector
from callboard_programs.relay.relay import Relay

log = logging.getLogger(__name__)

ALL_TOPICS: tuple[Topic, ...] = ("tools", "prompts", "resources")
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class ListenStream:
    """One of the client's streams. The request is acknowledged once. When a different host answers,
    every list is reported as changed."""

    def __init__(self, request: Request, channel: Channel) -> None:
        """Raises InvalidParams."""
        self._request = request
        self._channel = channel
        self._listener: Subscriber | None = None
        self._subscriptions = Subscriptions(lambda: ())
        self._subscriptions.check(request)
        #: The resources that are watched.
        self.uris = set(request.params["notifications"].get("resourceSubscriptions", []))

    def wait(self) -> None:
        """Acknowledge the request even though there is no host, so that changes on later hosts are
        reported."""
        if self._listener is None:
            self._listener = self._subscriptions.listen(
                self._request, self._channel, set(ALL_TOPICS)
            )

    def changed(self) -> None:
        """Report every list as changed."""
        if self._listener is not None:
            for topic in sorted(self._listener.topics):
                self._listener.tell(f"notifications/{topic}/list_changed", {})

    def send(self, message: Json) -> bool:
        """Handle a message from a host's stream."""
        if message["method"] != _ACKNOWLEDGED:
            self._channel.send(message)
        elif self._listener is None:
            self._channel.send(message)
            wanted = self._request.params["notifications"]
            self._listener = Subscriber(
                self._request.id,
                self._channel,
                {topic for topic in ALL_TOPICS if wanted.get(f"{topic}ListChanged") is True},
                self.uris,
            )
        else:
            self._begin_again(self._listener)
        return True

    def heard_in_session(self) -> None:
        """Begin to listen to a host that notifies only sessions; see :meth:`notified`."""
        if self._listener is None:
            self.wait()
        else:
            self._begin_again(self._listener)

    def notified(self, method: str, params: Json) -> None:
        """Handle a notification that a host sent to a session."""
        listener = self._listener
        if listener is None:
            return
        topic = method.removeprefix("notifications/").removesuffix("/list_changed")
        if topic in listener.topics or params.get("uri") in listener.uris:
            listener.tell(method, params)

    def _begin_again(self, listener: Subscriber) -> None:
        self.changed()
        for uri in sorted(listener.uris):
            listener.tell("notifications/resources/updated", {"uri": uri})


class ListenStreams:
    """All streams of one client. Use it on a single event loop."""

    def __init__(self, keeper: Reconnector, relay: Relay) -> None:
        self._keeper = keeper
        self._relay = relay
        self._streams: set[ListenStream] = set()

    async def listen(
        self, request: Request, channel: Channel, headers: Mapping[str, str]
    ) -> Json | None:
        """Keep a stream open until the client cancels it or a host refuses it. Raises
        InvalidParams."""
        stream = ListenStream(request, channel)
        self._streams.add(stream)
        try:
            while True:
                if self._keeper.link is None:
                    stream.wait()
                link = await self._keeper.next()
                try:
                    if link.era == "sessions":
                        await link.while_open(self._hear_in_session(link, stream))
                    else:
                        send_request = self._relay.send_request(link, request, headers, stream)
                        response = await link.while_open(send_request)
                        if response is not None and "error" in response:
                            return response
                except (Unreachable, Broken):
                    pass
                self._keeper.drop(link)  # The host closed the stream, or has ended.
        finally:
            self._streams.discard(stream)

    async def _hear_in_session(self, link: Link, stream: ListenStream) -> None:
        try:
            await link.watch({uri for each in self._streams for uri in each.uris})
        except RemoteError as refused:
            log.warning("%s refuses to report changes: %s", link.instance.id, refused)
        stream.heard_in_session()
        await link.closed.wait()

    def notified(self, method: str, params: Json) -> None:
        """Handle a notification that a host sent to a session."""
        for stream in self._streams:
            stream.notified(method, params)

    def changed(self) -> None:
        """Report every list as changed."""
        for stream in self._streams:
            stream.changed()
