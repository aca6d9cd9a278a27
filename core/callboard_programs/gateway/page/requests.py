"""Makes the page's requests to one instance, and to the records."""

from __future__ import annotations

import asyncio
import base64
import binascii
from typing import Any, NamedTuple

from callboard.content import Json
from callboard.errors import HostError, PeerError
from callboard.protocol import jsonrpc
from callboard.rest.artist_routes import ACT
from callboard.transport.instances import Instance
from callboard_programs.client.http import send_request
from callboard_programs.gateway.page.feed import artist_headers, endpoint_of, problem_of

#: The picture's width and height in pixels.
WIDTH, HEIGHT = 480, 270
#: Maximum number of calls that are listed, newest first.
LISTED = 50
_PICTURES = ("image/png", "image/jpeg")


class MadePicture(NamedTuple):
    """A picture's bytes and its MIME type."""

    data: bytes
    mime_type: str


async def act(instance: Instance, body: Json) -> Json:
    """Have the instance do something, as its panel would. Raises HostError, with the instance's
    reason if it refuses."""
    headers = await artist_headers(instance)
    return await _post(instance, ACT, body, headers)


async def picture(instance: Instance, tool: str) -> MadePicture:
    """Return a picture of the scene. The host's own tool makes the picture, and the host's rules
    apply to the call. Raises HostError."""
    size = {"width": WIDTH, "height": HEIGHT}
    headers = {"User-Agent": "callboard page"}
    result = await _post(instance, "/v1/call", {"tool": tool, "arguments": size}, headers)
    content = result.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("mimeType") in _PICTURES:
            try:
                return MadePicture(base64.b64decode(str(block.get("data"))), block["mimeType"])
            except (binascii.Error, ValueError):
                break
    raise HostError("it returned no picture")


async def report(since: str) -> Json:
    """Return the report on the calls of all hosts. Raises PeerError if ``since`` can't be parsed,
    and HostError if the records can't be read."""
    from callboard.demand.period import parse_since
    from callboard.demand.report import build

    try:
        start = parse_since(since)
    except ValueError as error:
        raise PeerError(str(error)) from None
    return await _read(lambda reader: build(reader, since=start))


async def ended_calls() -> Json:
    """Return the newest calls of all hosts."""

    def read(reader: Any) -> Json:
        calls = reader.recent(limit=LISTED).calls
        return {"calls": [_listed(call) for call in calls]}

    return await _read(read)


async def trace(call: str) -> Json:
    """Return everything that the records contain about a call. Raises PeerError if there is no
    record of the call, and HostError if the records can't be read."""
    kept: Json = await _read(lambda reader: _trace(reader.get(call)))
    if not kept:
        raise PeerError("there is no record of that call")
    return kept


def _listed(call: Any) -> Json:
    about = {"id": call.call_id, "tool": call.tool, "outcome": call.outcome, "host": call.host}
    when = {"started": call.started, "took_ms": call.duration_ms, "client": call.client_name}
    return {**about, **when, "error": call.error_message}


def _trace(call: Any) -> Json:
    return {} if call is None else call.as_trace()


async def _read(work: Any) -> Json:
    import sqlite3  # Imported here, because only the records need it.

    from callboard.records.reader import Reader
    from callboard.records.store import default_folder

    try:
        kept: Json = await asyncio.to_thread(lambda: work(Reader(default_folder())))
    except sqlite3.Error as error:
        raise HostError(f"the records can't be read: {error}; try again in a minute") from None
    return kept


async def _post(instance: Instance, path: str, body: Json, headers: dict[str, str]) -> Json:
    sent = {"Content-Type": "application/json", "Accept": "application/json", **headers}
    endpoint = endpoint_of(instance, path)
    async with send_request(endpoint, "POST", sent, jsonrpc.encode(body)) as answer:
        if answer.status != 200:
            raise HostError(await problem_of(answer))
        async for result in answer.messages():
            return result
    raise HostError("it returned no answer")
