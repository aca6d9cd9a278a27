"""One ``subscriptions/listen`` of the client's, open over every host that comes and goes."""

from __future__ import annotations

from callboard.content import Json
from callboard.protocol.jsonrpc import Request
from callboard.protocol.session import Channel
from callboard.protocol.subscriptions import Subscriber, Subscriptions, Topic

ALL_TOPICS: tuple[Topic, ...] = ("tools", "prompts", "resources")
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


class ListenStream:
    """Acknowledges once, and tells of everything when another host answers."""

    def __init__(self, request: Request, channel: Channel) -> None:
        """Raises InvalidParams."""
        self._request = request
        self._channel = channel
        self._listener: Subscriber | None = None
        self._subscriptions = Subscriptions(lambda: ())
        self._subscriptions.check(request)

    def wait(self) -> None:
        """No host is there: what is asked for will be told by the ones to come."""
        if self._listener is None:
            self._listener = self._subscriptions.listen(
                self._request, self._channel, set(ALL_TOPICS)
            )

    def changed(self) -> None:
        """The bridge's own lists are others; no host is there to tell."""
        if self._listener is not None:
            for topic in sorted(self._listener.topics):
                self._listener.tell(f"notifications/{topic}/list_changed", {})

    def pass_on(self, message: Json) -> None:
        """Takes what a host streams."""
        if message["method"] != _ACKNOWLEDGED:
            self._channel.send(message)
        elif self._listener is None:
            self._channel.send(message)
            wanted = self._request.params["notifications"]
            self._listener = Subscriber(
                self._request.id,
                self._channel,
                {topic for topic in ALL_TOPICS if wanted.get(f"{topic}ListChanged") is True},
                set(wanted.get("resourceSubscriptions", [])),
            )
        else:
            self.changed()
            for uri in sorted(self._listener.uris):
                self._listener.tell("notifications/resources/updated", {"uri": uri})
