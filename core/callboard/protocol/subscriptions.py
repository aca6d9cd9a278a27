"""Sends notifications of changes, such as ``list_changed``, to sessions and to listen streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from callboard.clients.holder import NOBODY, TokenHolder
from callboard.clients.shares import has_place
from callboard.content import Json
from callboard.errors import InvalidParams, PeerError
from callboard.protocol import jsonrpc
from callboard.protocol.jsonrpc import Id, Request
from callboard.protocol.session import Channel, Session

Topic = Literal["tools", "prompts", "resources"]

SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
#: The key in the ``_meta`` of the final result for the reason why the server ended the stream.
REASON_KEY = "callboard/reason"
#: Maximum number of listen streams open at once, and maximum number of resources that one of them
#: watches.
LISTENER_LIMIT = 512
WATCH_LIMIT = 1000
_FLAGS: dict[str, Topic] = {
    "toolsListChanged": "tools",
    "promptsListChanged": "prompts",
    "resourcesListChanged": "resources",
}


class Subscriber:
    """A client's ``subscriptions/listen`` request, with the lists and resources that it subscribed
    to (2026-07-28, Subscriptions)."""

    def __init__(
        self,
        id: Id,
        channel: Channel,
        topics: set[Topic],
        uris: set[str],
        holder: TokenHolder = NOBODY,
    ) -> None:
        self.holder = holder
        self.id = id
        self.channel = channel
        self.topics = topics
        self.uris = uris

    def tell(self, method: str, params: Json) -> None:
        tagged = {**params, "_meta": {SUBSCRIPTION_KEY: self.id}}
        self.channel.send(jsonrpc.notification_message(method, tagged))


class Subscriptions:
    """Sends each change to the clients that subscribed to it. Runs on the server's loop."""

    def __init__(self, sessions: Callable[[], Iterable[Session]]) -> None:
        self._sessions = sessions
        self._listeners: set[Subscriber] = set()

    def __len__(self) -> int:
        return len(self._listeners)

    def check(self, request: Request, holder: TokenHolder = NOBODY) -> None:
        """Check that ``holder`` may open a stream. Raises InvalidParams or PeerError."""
        wanted = request.params.get("notifications")
        if not isinstance(wanted, dict):
            raise InvalidParams("params.notifications must be an object")
        if not has_place(holder, (one.holder for one in self._listeners), LISTENER_LIMIT):
            raise PeerError("you have too many open listen streams; close one")
        uris = wanted.get("resourceSubscriptions", [])
        if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
            raise InvalidParams("resourceSubscriptions must be a list of URIs")
        if len(uris) > WATCH_LIMIT:
            raise InvalidParams(
                f"a stream can watch at most {WATCH_LIMIT} resources; open another for the rest"
            )

    def listen(
        self,
        request: Request,
        channel: Channel,
        offered: set[Topic],
        holder: TokenHolder = NOBODY,
    ) -> Subscriber:
        """Open a stream for a request that passed ``check``, and acknowledge the granted part of
        the request."""
        wanted = request.params["notifications"]
        uris = wanted.get("resourceSubscriptions", [])
        topics = {t for flag, t in _FLAGS.items() if wanted.get(flag) is True and t in offered}
        listener = Subscriber(request.id, channel, topics, set(uris), holder)
        # This comes before the acknowledgement, so that no change is lost in between.
        self._listeners.add(listener)
        honoured: Json = {flag: True for flag, topic in _FLAGS.items() if topic in topics}
        if uris:
            honoured["resourceSubscriptions"] = uris
        listener.tell("notifications/subscriptions/acknowledged", {"notifications": honoured})
        return listener

    def leave(self, listener: Subscriber) -> None:
        self._listeners.discard(listener)

    def list_changed(self, topic: Topic) -> None:
        """Notify every client that a list has changed."""
        method = f"notifications/{topic}/list_changed"
        for session in self._sessions():
            session.notify(method)
        for listener in list(self._listeners):
            if topic in listener.topics:
                listener.tell(method, {})

    def resource_updated(self, uri: str) -> None:
        """Report a change in the resource's content to the clients that watch the resource."""
        method, params = "notifications/resources/updated", {"uri": uri}
        for session in self._sessions():
            if uri in session.watched:
                session.notify(method, params)
        for listener in list(self._listeners):
            if uri in listener.uris:
                listener.tell(method, params)

    def watched(self) -> set[str]:
        """Return every URI that a client watches."""
        uris: set[str] = set()
        for session in self._sessions():
            uris |= session.watched
        for listener in self._listeners:
            uris |= listener.uris
        return uris

    def close(self, reason: str | None = None) -> None:
        """End the listen streams with a final result, which carries the reason if there is one."""
        why = {} if reason is None else {REASON_KEY: reason}
        for listener in list(self._listeners):
            result = {"resultType": "complete", "_meta": {SUBSCRIPTION_KEY: listener.id, **why}}
            listener.channel.send(jsonrpc.result_message(listener.id, result))
        self._listeners.clear()
