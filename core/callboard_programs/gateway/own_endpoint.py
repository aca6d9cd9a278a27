"""The path ``/mcp`` of the gateway."""

from __future__ import annotations

from callboard.errors import CallboardError
from callboard.protocol.jsonrpc import Notification, Request, Response
from callboard.protocol.session import Session
from callboard.protocol.stateless import status_of
from callboard.transport.http.exchange import Exchange
from callboard.transport.http.mcp import McpEndpoint, Reply, fail
from callboard_programs.gateway.conversations import StatelessConversations, shown_token
from callboard_programs.gateway.own_server import PASSED_ON, GatewayServer


class OwnEndpoint(McpEndpoint):
    """As a host's, and passes on what hosts have to know. On the gateway's loop."""

    def __init__(self, server: GatewayServer, stateless: StatelessConversations) -> None:
        super().__init__(server, {"tools", "prompts", "resources"}, lambda tool: None)
        self._server = server
        self._without = stateless

    def session_of(self, exchange: Exchange) -> Session | None:
        session = super().session_of(exchange)
        if session is not None:
            self._server.attachments(session).token = shown_token(exchange.headers)
        return session

    def receive(self, session: Session, message: Notification | Response) -> None:
        self._server.received(session, message)  # while it is known whom a request went to
        super().receive(session, message)

    def answer_stateless(self, exchange: Exchange, reply: Reply, message: Request) -> None:
        if message.method not in ("tools/call", *PASSED_ON):
            super().answer_stateless(exchange, reply, message)
            return
        exchange.on_gone = self.start(self._pass_on(exchange, reply, message)).cancel

    async def _pass_on(self, exchange: Exchange, reply: Reply, message: Request) -> None:
        """A host's own answer: it may hold questions, which only that host can read again."""
        try:
            self.stateless.check(message, exchange.headers, exchange.holder)
            self._server.shown_tokens[exchange.holder] = shown_token(exchange.headers)
            target = await self._server.scene_of(message)
        except CallboardError as error:
            exchange.on_gone = None
            fail(exchange, status_of(error), error, message.id)
            return
        if target is None:
            super().answer_stateless(exchange, reply, message)
            return
        await self._without.answer(target[0], exchange, reply, target[1], rewritten=True)
