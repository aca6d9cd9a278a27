"""Serves the gateway's path ``/mcp``."""

from __future__ import annotations

from callboard.errors import CallboardError
from callboard.protocol.jsonrpc import Notification, Request, Response
from callboard.protocol.session import Session
from callboard.protocol.stateless import status_of
from callboard.transport.http.incoming_request import IncomingRequest
from callboard.transport.http.mcp import McpEndpoint, Reply, fail
from callboard_programs.gateway.conversations import StatelessConversations, shown_token
from callboard_programs.gateway.own_server import PASSED_ON, GatewayServer


class OwnEndpoint(McpEndpoint):
    """The gateway's endpoint. It works like a host's endpoint, and also passes on the messages that
    hosts need. Use it on the gateway's loop."""

    def __init__(self, server: GatewayServer, stateless: StatelessConversations) -> None:
        super().__init__(server, {"tools", "prompts", "resources"}, lambda tool: None)
        self._server = server
        self._without = stateless

    def session_of(self, incoming: IncomingRequest) -> Session | None:
        session = super().session_of(incoming)
        if session is not None:
            self._server.attachments(session).token = shown_token(incoming.headers)
        return session

    def receive(self, session: Session, message: Notification | Response) -> None:
        self._server.received(
            session, message
        )  # This must come before the session forgets which host asked.
        super().receive(session, message)

    def answer_stateless(self, incoming: IncomingRequest, reply: Reply, message: Request) -> None:
        if message.method not in ("tools/call", *PASSED_ON):
            super().answer_stateless(incoming, reply, message)
            return
        incoming.on_gone = self.start(self._pass_on(incoming, reply, message)).cancel

    async def _pass_on(self, incoming: IncomingRequest, reply: Reply, message: Request) -> None:
        """Answer with the host's own response. The response may contain questions, and only that
        host can read the state that is returned with the answers."""
        try:
            self.stateless.check(message, incoming.headers, incoming.holder)
            self._server.shown_tokens[incoming.holder] = shown_token(incoming.headers)
            target = await self._server.scene_of(message)
        except CallboardError as error:
            incoming.on_gone = None
            fail(incoming, status_of(error), error, message.id)
            return
        if target is None:
            super().answer_stateless(incoming, reply, message)
            return
        await self._without.answer(target[0], incoming, reply, target[1], rewritten=True)
