"""The methods of MCP, for any peer of any era."""

from __future__ import annotations

import base64
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from callboard.errors import CallboardBug, CallboardError, InvalidParams, MethodNotFound
from callboard.host import Host
from callboard.protocol.jsonrpc import Json
from callboard.protocol.peer import Peer, PeerRequest
from callboard.protocol.session import PeerEvent
from callboard.server.capabilities import Capabilities
from callboard.server.dispatcher import Dispatcher
from callboard.server.logging_levels import set_level
from callboard.server.roots import RootsBook
from callboard.server.tools import ToolRegistry

log = logging.getLogger(__name__)

#: Entries of one page of a list. Large, because many clients never ask for the second page.
PAGE_SIZE = 500


class Service:
    """Answers requests. Every method on the server's loop."""

    def __init__(
        self,
        host: Host,
        version: str,
        tools: ToolRegistry,
        capabilities: Capabilities,
        roots: RootsBook,
        dispatcher: Dispatcher,
    ) -> None:
        self._host = host
        self._version = version
        self._tools = tools
        self._capabilities = capabilities
        self._roots = roots
        self._dispatcher = dispatcher
        self._methods: dict[str, Callable[[PeerRequest], Awaitable[Json]]] = {
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
            "logging/setLevel": self._set_level,
        }

    def introduce(self, peer: Peer) -> Json:
        """Who we are and what we can do, as this peer's revision says it."""
        identity = self._host.identity
        info: Json = {"name": "callboard", "version": self._version}
        if peer.features.structured_output:
            info["title"] = f"callboard in {identity.name}"
        return {
            "capabilities": {"tools": {"listChanged": True}, "logging": {}},
            "serverInfo": info,
            "instructions": (
                f"You drive {identity.name} {identity.version} on this machine. Lengths are scene "
                "units, angles degrees; scene__scene_info says which way is up. A tool whose "
                "_meta.dcc.missing_capabilities is there can't be called on this host now. Every "
                "call that changes the scene is one undo step for the artist."
            ),
        }

    async def handle(self, request: PeerRequest) -> Json:
        """The result. Raises CallboardError and nothing else, CancelledError apart."""
        method = self._methods.get(request.method)
        if method is None:
            raise MethodNotFound(f"unknown method '{request.method[:80]}'")
        try:
            return await method(request)
        except CallboardError:
            raise
        except Exception:
            log.exception("%s failed", request.method)
            raise CallboardBug(
                f"internal error in {request.method}; the log has the details"
            ) from None

    def peer_event(self, peer: Peer, event: PeerEvent) -> None:
        if event == "closed":
            self._roots.forget(peer)
        else:
            self._roots.ask_session(peer)

    async def _list_tools(self, request: PeerRequest) -> Json:
        tools = self._tools.all()
        start = 0
        cursor = request.params.get("cursor")
        if cursor is not None:
            after = _read_cursor(cursor)
            start = next((i for i, tool in enumerate(tools) if tool.name > after), len(tools))
        page = tools[start : start + PAGE_SIZE]
        declared = self._capabilities.declared
        features = request.peer.features
        result: Json = {"tools": [tool.describe(features, declared) for tool in page]}
        if start + PAGE_SIZE < len(tools):
            result["nextCursor"] = _write_cursor(page[-1].name)
        return result

    async def _call_tool(self, request: PeerRequest) -> Json:
        name = request.params.get("name")
        if not isinstance(name, str):
            raise InvalidParams("params.name must be the name of a tool")
        arguments = request.params.get("arguments")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise InvalidParams("params.arguments must be an object")
        result = await self._dispatcher.call(request, name, arguments)
        if not request.peer.features.structured_output:
            result.pop("structuredContent", None)
        return result

    async def _set_level(self, request: PeerRequest) -> Json:
        set_level(request.peer, request.params.get("level"))
        return {}


def _write_cursor(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode("ascii")


def _read_cursor(cursor: Any) -> str:
    # The cursor names the last entry seen, so it stays right when the list changes in between.
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode("utf-8")
    except (TypeError, ValueError):
        raise InvalidParams("cursor must be one that this server handed out") from None
