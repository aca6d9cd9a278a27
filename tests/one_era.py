"""A callboard server that speaks only one era, as the servers of other vendors do."""

from __future__ import annotations

from typing import Literal

from callboard.app import Callboard
from callboard.errors import PeerError
from callboard.protocol.errors import UnsupportedVersion
from callboard.protocol.jsonrpc import Request
from callboard.protocol.revisions import REVISION_2026_07_28
from callboard.transport.http.incoming_request import IncomingRequest
from callboard.transport.http.mcp import McpEndpoint, Reply, fail

Era = Literal["sessions", "stateless"]
ERAS: tuple[Era, ...] = ("sessions", "stateless")


class OfSessions(McpEndpoint):
    """A server's endpoint for 2025-11-25 and earlier."""

    def answer_stateless(self, incoming: IncomingRequest, reply: Reply, message: Request) -> None:
        fail(incoming, 400, PeerError("Bad Request: Missing session ID"))


class OfNoSessions(McpEndpoint):
    """A server's endpoint for 2026-07-28."""

    def initialize(self, incoming: IncomingRequest, reply: Reply, message: Request) -> None:
        asked = str(message.params.get("protocolVersion"))
        refused = UnsupportedVersion(asked, [REVISION_2026_07_28.name])
        fail(incoming, 400, refused, message.id)


def speak_only(app: Callboard, era: Era) -> None:
    """Restrict the server to one era. Call it before any client connects."""
    app.endpoint.__class__ = OfSessions if era == "sessions" else OfNoSessions
