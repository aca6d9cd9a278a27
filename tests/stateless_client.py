"""A client that speaks protocol 2026-07-28, on top of the raw one."""

from __future__ import annotations

import itertools
from typing import Any

from callboard.protocol.headers import NAMED_BY
from callboard.protocol.revisions import REVISION_2026_07_28
from callboard_testing.fake_client import FakeClient

Json = dict[str, Any]
VERSION = REVISION_2026_07_28.name
PREFIX = "io.modelcontextprotocol/"


class Stateless:
    def __init__(self, raw: FakeClient, capabilities: Json | None = None) -> None:
        self.raw = raw
        self._ids = itertools.count(1)
        self._meta = {
            f"{PREFIX}protocolVersion": VERSION,
            f"{PREFIX}clientCapabilities": capabilities or {},
            f"{PREFIX}clientInfo": {"name": "stateless", "version": "1"},
        }

    def message(self, method: str, params: Json) -> tuple[Json, dict[str, str | None]]:
        headers = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method}
        if method in NAMED_BY:
            headers["Mcp-Name"] = params[NAMED_BY[method]]
        params = {**params, "_meta": self._meta}
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        return message, dict(headers)

    def request(self, method: str, params: Json | None = None) -> Json:
        """Send a request, and return the whole response."""
        answer = self.raw.post(*self.message(method, params or {}))
        assert answer.status == 200, answer.body
        response: Json = answer.message
        return response

    def call(self, tool: str, arguments: Json | None = None) -> Json:
        result: Json = self.request("tools/call", {"name": tool, "arguments": arguments or {}})[
            "result"
        ]
        return result

    def listen(self, **wanted: bool | list[str]) -> None:
        """Open a stream. Its messages go to ``raw.received``."""
        message, headers = self.message("subscriptions/listen", {"notifications": wanted})
        self.raw.in_thread(lambda: self.raw.post(message, headers))
        self.raw.wait_for("notifications/subscriptions/acknowledged")
