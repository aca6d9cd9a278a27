"""Opens a conversation with a server of either era."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callboard.content import Json
from callboard.protocol.conversation import Conversation
from callboard.protocol.errors import (
    HEADER_MISMATCH,
    MISSING_CLIENT_CAPABILITY,
    UNSUPPORTED_VERSION,
)
from callboard.protocol.revisions import NEWEST_WITH_SESSIONS, REVISION_2026_07_28, REVISIONS
from callboard.protocol.stateless import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    LOG_LEVEL_KEY,
    VERSION_KEY,
)

#: Seconds within which a server must answer the newer era's first request.
DISCOVERY = 5.0
#: Seconds within which a server must be ready. A server that first installs itself takes a while.
OPENING = 120.0
#: Errors that only a server of the newer era uses.
_MODERN = (HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION)


@dataclass(frozen=True)
class Dialect:
    """The form of the requests to this server. ``stateless`` is True for the newer era."""

    #: The name and version with which the client introduces itself.
    client: Mapping[str, Any]
    stateless: bool
    server_capabilities: Mapping[str, Any]

    def meta(self, capabilities: Mapping[str, Any], log_level: str | None = None) -> Json:
        """Return the entries that this server needs in every request's ``_meta``."""
        if not self.stateless:
            return {}
        meta: Json = {
            VERSION_KEY: REVISION_2026_07_28.name,
            CLIENT_KEY: dict(self.client),
            CAPABILITIES_KEY: dict(capabilities),
        }
        if log_level is not None:
            meta[LOG_LEVEL_KEY] = log_level
        return meta

    def offers(self, capability: str) -> bool:
        return isinstance(self.server_capabilities.get(capability), dict)


async def open_talk(
    conversation: Conversation,
    client: Mapping[str, Any],
    capabilities: Mapping[str, Any],
) -> Dialect:
    """Find out which era the server speaks, and open the conversation. A session comes first,
    because some servers that support both eras can ask their client questions only in a session.
    FastMCP, for example, has elicitation only there. Raises ``lost``."""
    try:
        return await _initialize(conversation, client, capabilities)
    except conversation.refused as refused:
        talk = await _discover(conversation, client, capabilities)
        if talk is None:
            raise conversation.lost(f"refused initialize: {refused.message}") from None
        return talk


async def _discover(
    conversation: Conversation, client: Mapping[str, Any], capabilities: Mapping[str, Any]
) -> Dialect | None:
    """Try the newer era. Return None when the server doesn't support ``server/discover``
    (2026-07-28, stdio: any other error, or silence, means ``initialize``)."""
    talk = Dialect(client, True, {})
    params = {"_meta": talk.meta(capabilities)}
    try:
        asking = conversation.request("server/discover", params, abandon=False)
        answer = await asyncio.wait_for(asking, DISCOVERY)
    except asyncio.TimeoutError:
        return None
    except conversation.refused as refused:
        if refused.code in _MODERN:
            raise conversation.lost(f"refused server/discover: {refused.message}") from None
        return None
    versions = answer.get("supportedVersions")
    if not isinstance(versions, list) or REVISION_2026_07_28.name not in versions:
        return None
    offered = answer.get("capabilities")
    return Dialect(client, True, offered if isinstance(offered, dict) else {})


async def _initialize(
    conversation: Conversation, client: Mapping[str, Any], capabilities: Mapping[str, Any]
) -> Dialect:
    params = {
        "protocolVersion": NEWEST_WITH_SESSIONS.name,
        "capabilities": dict(capabilities),
        "clientInfo": dict(client),
    }
    asking = conversation.request("initialize", params, abandon=False)
    try:
        answer = await asyncio.wait_for(asking, OPENING)
    except asyncio.TimeoutError:
        raise conversation.lost(f"did not answer initialize within {OPENING:g} s") from None
    revision = REVISIONS.get(str(answer.get("protocolVersion")))
    if revision is None or not revision.sessions:
        stated = str(answer.get("protocolVersion"))[:40]
        raise conversation.lost(f"speaks the revision {stated!r}, which callboard doesn't support")
    conversation.notify("notifications/initialized")
    offered = answer.get("capabilities")
    return Dialect(client, False, offered if isinstance(offered, dict) else {})
