"""Checks the headers that must repeat parts of a request's body, when the request arrives
(2026-07-28, Streamable HTTP). The names of received headers are in lower case."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping

from callboard.content import Json
from callboard.protocol.errors import HeaderMismatch
from callboard.protocol.jsonrpc import Request

VERSION_HEADER = "MCP-Protocol-Version"
#: The header with a session's id, in the revisions that have sessions.
SESSION_HEADER = "Mcp-Session-Id"
METHOD_HEADER = "Mcp-Method"
NAME_HEADER = "Mcp-Name"
PARAM_HEADER = "Mcp-Param-"
#: The header, and the key in ``_meta``, of the W3C trace context.
TRACE = "traceparent"
_TRACEPARENT = re.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")

#: For each method, the param that ``Mcp-Name`` must repeat.
NAMED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
_ENCODED_START, _ENCODED_END = "=?base64?", "?="


def decode_value(value: str) -> str:
    """Return a header's value, decoded when it is marked as encoded. Raises HeaderMismatch."""
    value = value.strip(" \t")
    if not (
        value.startswith(_ENCODED_START)
        and value.endswith(_ENCODED_END)
        and len(value) >= len(_ENCODED_START) + len(_ENCODED_END)
    ):
        return value
    try:
        inner = value[len(_ENCODED_START) : -len(_ENCODED_END)]
        return base64.b64decode(inner, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        raise HeaderMismatch("an encoded header value is not base64 of UTF-8") from None


def add_trace(params: Json, headers: Mapping[str, str]) -> None:
    """Put the trace context of the headers into a request's ``_meta``, unless it has one. From
    there it travels with the request, even through a gateway."""
    given = headers.get(TRACE, "").strip()
    if is_trace(given):
        meta = params.setdefault("_meta", {})
        if isinstance(meta, dict):
            meta.setdefault(TRACE, given)


def is_trace(text: str) -> bool:
    """Return whether ``text`` is a W3C ``traceparent``."""
    return _TRACEPARENT.fullmatch(text) is not None


def check_method(request: Request, headers: Mapping[str, str]) -> None:
    """Check that ``Mcp-Method`` repeats the method. Raises HeaderMismatch."""
    _expect(headers, METHOD_HEADER, request.method, encoded=False)


def check_name(request: Request, headers: Mapping[str, str]) -> None:
    """Check that ``Mcp-Name`` repeats the name, URI or task id. Raises HeaderMismatch."""
    key = NAMED_BY.get(request.method)
    if key is None:
        return
    named = request.params.get(key)
    if isinstance(named, str):
        _expect(headers, NAME_HEADER, named, encoded=True)


def check_params(schema: Mapping[str, object], arguments: Json, headers: Mapping[str, str]) -> None:
    """Check that ``Mcp-Param-*`` repeats each argument whose schema has ``x-mcp-header``. Raises
    HeaderMismatch."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    for name, child in properties.items():
        if not isinstance(child, Mapping):
            continue
        value = arguments.get(name)
        header = child.get("x-mcp-header")
        if isinstance(header, str):
            _check_param(PARAM_HEADER + header, value, headers)
        elif isinstance(value, dict):
            check_params(child, value, headers)


def _check_param(header: str, value: object, headers: Mapping[str, str]) -> None:
    given = headers.get(header.lower())
    if value is None:
        if given is not None:
            raise HeaderMismatch(f"{header} is present, but the argument it repeats is missing")
        return
    if given is None:
        raise HeaderMismatch(f"{header} is missing; it must repeat the argument's value")
    text = decode_value(given)
    if isinstance(value, bool):
        same = text == ("true" if value else "false")
    elif isinstance(value, (int, float)):
        same = _number(text) == value
    else:
        same = text == value
    if not same:
        raise HeaderMismatch(f"{header} differs from the argument that it must repeat")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _expect(headers: Mapping[str, str], header: str, value: str, *, encoded: bool) -> None:
    given = headers.get(header.lower())
    if given is None:
        raise HeaderMismatch(f"{header} is missing; it must be {value[:80]!r}, as in the body")
    stated = decode_value(given) if encoded else given.strip(" \t")
    if stated != value:
        raise HeaderMismatch(f"{header} is {stated[:80]!r}, but the body says {value[:80]!r}")
