"""Serves ``/mcp/<name>``, which leads to a single instance, even after the instance restarts."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from callboard.content import Json
from callboard.errors import PeerError
from callboard.protocol import jsonrpc
from callboard.protocol.headers import SESSION_HEADER
from callboard.protocol.jsonrpc import Notification, Request, Response
from callboard.protocol.session import Session, TooManySessions
from callboard.transport.http.access import Refusal
from callboard.transport.http.incoming_request import IncomingRequest
from callboard.transport.http.mcp import SESSION_ENDED, Reply, StreamableHttp, fail, refuse_session
from callboard_programs.gateway.conversations import (
    HostConversation,
    StatelessConversations,
    converse,
    end_conversation,
    shown_token,
)
from callboard_programs.gateway.names import NAME, HostNames

PREFIX = "/mcp/"
_SESSION = SESSION_HEADER.lower()


class NamedHosts(StreamableHttp):
    """The endpoint for all names. Use it on the gateway's loop."""

    def __init__(self, names: HostNames, stateless: StatelessConversations) -> None:
        super().__init__(self._closed)
        self._names = names
        self._in_sessions: dict[str, HostConversation] = {}
        self._without = stateless

    def __call__(self, incoming: IncomingRequest) -> None:
        if NAME.fullmatch(_name(incoming)) is None:
            incoming.refuse(
                Refusal(404, "no instance can have that name; /mcp lists the instances")
            )
        else:
            super().__call__(incoming)

    async def stop(self) -> None:
        """End every session, and notify the hosts."""
        conversations = list(self._in_sessions.values())
        self._in_sessions.clear()
        self.close()
        await asyncio.gather(*(end_conversation(each) for each in conversations))

    # -- sessions -------------------------------------------------------------------------------

    def initialize(self, incoming: IncomingRequest, reply: Reply, message: Request) -> None:
        task = self.start(self._initialize(incoming, reply, message))
        incoming.on_gone = task.cancel

    async def _initialize(self, incoming: IncomingRequest, reply: Reply, message: Request) -> None:
        try:
            self.sessions.room(incoming.holder)
        except TooManySessions as full:
            refuse_session(incoming, message, full)
            return
        conversation = converse(
            _name(incoming), self._names, incoming.holder, shown_token(incoming.headers)
        )
        client = None
        try:
            response = await conversation.side.initialize(message)
            client = conversation.side.client
        finally:
            incoming.on_gone = None
            if client is None:
                self._end(conversation)
        if client is not None:
            try:
                self.sessions.room(
                    incoming.holder
                )  # Other sessions may have been opened in the meantime.
            except TooManySessions as full:
                self._end(conversation)
                refuse_session(incoming, message, full)
                return
            self._in_sessions[client.session.id] = conversation
            self.sessions.add(client.session)
            reply.introduce(client.session)
        reply.finish([response], status=200 if client is not None else 400)

    def session_of(self, incoming: IncomingRequest) -> Session | None:
        known = self._in_sessions.get(incoming.headers.get(_SESSION, ""))
        # Reveal nothing about another client's session, not even that it exists.
        if known and known.holder == incoming.holder and known.name != _name(incoming):
            fail(incoming, 404, PeerError("this session belongs to another address"))
            return None
        return super().session_of(incoming)

    def answer(
        self, session: Session, message: Request, reply: Reply
    ) -> Coroutine[Any, Any, Json | None]:
        conversation = self._in_sessions.get(session.id)
        opening = None if conversation is None else conversation.opening
        # A batch's requests begin later, when the session may have ended.
        if conversation is None or reply.in_batch or not (opening is None or opening.done()):
            return self._in_session(session, message, reply)
        return conversation.side.answer(message, reply)

    async def _in_session(self, session: Session, message: Request, reply: Reply) -> Json | None:
        conversation = self._in_sessions.get(session.id)
        if conversation is None:  # The session ended before this request began.
            return jsonrpc.error_message(message.id, PeerError(SESSION_ENDED))
        if conversation.opening is not None and not conversation.opening.done():
            await asyncio.wait([conversation.opening])
        return await conversation.side.answer(message, reply)

    def receive(self, session: Session, message: Notification | Response) -> None:
        conversation = self._in_sessions[session.id]
        task = self.start(conversation.side.receive(message))
        if isinstance(message, Notification) and message.method == "notifications/initialized":
            conversation.opening = task  # No request may overtake this one.

    def _closed(self, session: Session) -> None:
        conversation = self._in_sessions.pop(session.id, None)
        if conversation is not None:
            self._end(conversation)

    def answer_stateless(self, incoming: IncomingRequest, reply: Reply, message: Request) -> None:
        task = self.start(self._without.answer(_name(incoming), incoming, reply, message))
        # Closing the response stream cancels the request (2026-07-28, Streamable HTTP).
        incoming.on_gone = task.cancel

    def _end(self, conversation: HostConversation) -> None:
        self.start(end_conversation(conversation))


def _name(incoming: IncomingRequest) -> str:
    return incoming.path.removeprefix(PREFIX)
