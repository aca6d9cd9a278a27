"""The conversations of clients with named instances. Each conversation is in the name of its
client."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from callboard.clients.holder import ANYONE, LOCAL, SILENCE, TokenHolder
from callboard.protocol.jsonrpc import Request
from callboard.protocol.peer import ClientInfo
from callboard.protocol.stateless import CLIENT_KEY
from callboard.transport.http.incoming_request import IncomingRequest
from callboard.transport.http.mcp import Reply
from callboard.transport.instances import Instance
from callboard_programs.gateway.names import HostNames, NameFinder
from callboard_programs.relay.host_side import HostSide

#: Maximum number of stateless clients that are kept connected at the same time.
STATELESS_LIMIT = 256


@dataclass(eq=False)
class HostConversation:
    """A client's conversation with one instance. It lasts as long as the client's session. For a
    stateless client, it lasts until the client has been silent for too long."""

    name: str
    holder: TokenHolder
    side: HostSide
    keeping: asyncio.Task[Any]
    #: The task that notifies the host that the client is initialized, or None before the task has
    #: started.
    opening: asyncio.Task[Any] | None = None
    #: The number of unanswered stateless requests, and the time of the last one.
    requests: int = 0
    last_used: float = field(default_factory=monotonic)


def converse(name: str, names: HostNames, holder: TokenHolder, token: str) -> HostConversation:
    """Begin a conversation in which the client's token is presented to the host. Call it on the
    gateway's loop."""

    def present(instance: Instance) -> str | None:
        # A client's own token is valid for all of this user's hosts, but the gateway's token isn't.
        return instance.token if holder in (LOCAL, ANYONE) else token

    side = HostSide(NameFinder(name, names), None, present, holder)
    return HostConversation(name, holder, side, asyncio.ensure_future(side.run()))


async def end_conversation(conversation: HostConversation) -> None:
    """End a conversation, and notify the host that the client is gone."""
    conversation.keeping.cancel()
    await conversation.side.end()


def shown_token(headers: Mapping[str, str]) -> str:
    """Return the token that a request carried."""
    return headers.get("authorization", "").partition(" ")[2].strip()


class StatelessConversations:
    """The conversations of clients without sessions, by instance, token holder and the name that
    the client reports."""

    def __init__(self, names: HostNames) -> None:
        self._names = names
        self._kept: dict[tuple[str, TokenHolder, str], HostConversation] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def answer(
        self,
        name: str,
        incoming: IncomingRequest,
        reply: Reply,
        message: Request,
        *,
        rewritten: bool = False,
    ) -> None:
        """Answer a request through that instance. ``rewritten`` is true for a request that the
        gateway made from another request, whose headers have already been checked."""
        conversation = self._conversation(name, incoming, message)
        conversation.requests += 1
        try:
            headers = None if rewritten else incoming.headers
            status, response = await conversation.side.answer_stateless(message, reply, headers)
        finally:
            conversation.requests -= 1
            conversation.last_used = monotonic()
        incoming.on_gone = None
        reply.finish([] if response is None else [response], status=status)

    def end(self, holder: TokenHolder) -> None:
        """End one client's conversations."""
        self._end([key for key in self._kept if key[1] == holder])

    def expire(self) -> None:
        """End the conversations that have been silent for too long."""
        oldest = monotonic() - SILENCE
        self._end([key for key in self._idle() if self._kept[key].last_used < oldest])

    async def close(self) -> None:
        self._end(list(self._kept))
        await asyncio.gather(*self._ending)

    def _conversation(
        self, name: str, incoming: IncomingRequest, message: Request
    ) -> HostConversation:
        meta = message.params.get("_meta")
        info = ClientInfo.read(meta.get(CLIENT_KEY) if isinstance(meta, dict) else None)
        key = (name, incoming.holder, info.name)
        conversation = self._kept.pop(key, None)
        if conversation is None:
            self._end(self._idle()[: max(0, len(self._kept) - STATELESS_LIMIT + 1)])
            token = shown_token(incoming.headers)
            conversation = converse(name, self._names, incoming.holder, token)
        self._kept[key] = conversation  # The most recently used conversation comes last.
        return conversation

    def _idle(self) -> list[tuple[str, TokenHolder, str]]:
        return [key for key, conversation in self._kept.items() if not conversation.requests]

    def _end(self, keys: list[tuple[str, TokenHolder, str]]) -> None:
        for key in keys:
            ending = end_conversation(self._kept.pop(key))
            task = asyncio.get_running_loop().create_task(ending)
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
