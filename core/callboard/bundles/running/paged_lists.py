"""Reads a server's lists completely, however many pages they have."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from callboard.bundles.running.errors import BundleError, Refused
from callboard.content import Json
from callboard.protocol.conversation import Conversation
from callboard.protocol.handshake import OPENING, Dialect
from callboard.protocol.jsonrpc import encode

ListKey = Literal["tools", "prompts", "resources", "resourceTemplates"]
_METHODS: dict[ListKey, str] = {"resourceTemplates": "resources/templates/list"}
MAX_ENTRIES = 1000
#: Maximum number of bytes in one list. Every client receives it along with all other bundles'
#: lists.
MAX_BYTES = 2 * 2**20


async def listed(connection: Conversation, talk: Dialect, key: ListKey) -> list[Any]:
    """Return the entries, at most ``MAX_ENTRIES``. Raises BundleError for a malformed answer, and
    for more than ``MAX_BYTES``."""
    method = _METHODS.get(key, f"{key}/list")
    entries: list[Any] = []
    cursor: str | None = None
    size = 0
    while True:
        params: Json = {"_meta": talk.meta({})} if talk.stateless else {}
        if cursor is not None:
            params["cursor"] = cursor
        try:
            page = await asyncio.wait_for(connection.request(method, params), OPENING)
        except asyncio.TimeoutError:
            raise BundleError(f"did not list its {key}") from None
        except Refused as refused:
            raise BundleError(f"did not list its {key}: {refused.message}") from None
        page_entries = page.get(key)
        if not isinstance(page_entries, list):
            raise BundleError(f"sent {key} that aren't a list")
        entries += page_entries
        size += len(encode(page_entries))
        if size > MAX_BYTES:
            raise BundleError(f"sent more than {MAX_BYTES >> 20} MiB of {key}")
        following = page.get("nextCursor")
        if not isinstance(following, str) or following == cursor or len(entries) >= MAX_ENTRIES:
            return entries[:MAX_ENTRIES]
        cursor = following
