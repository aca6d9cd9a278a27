"""The headers in which our stateless requests repeat parts of their bodies (2026-07-28, Streamable
HTTP)."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

from callboard.content import Json
from callboard.errors import MethodNotFound
from callboard.protocol.headers import (
    METHOD_HEADER,
    NAME_HEADER,
    NAMED_BY,
    PARAM_HEADER,
    VERSION_HEADER,
)
from callboard.protocol.jsonrpc import Request
from callboard.protocol.stateless import VERSION_KEY

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def stateless_headers(request: Request, schema: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the headers for a request whose ``_meta`` has been checked. ``schema`` is the input
    schema of the called tool, or None if no tool is called or its schema isn't known. Raises
    MethodNotFound if the method's name can't be sent in a header."""
    method = request.method
    if not method or not all("!" <= character <= "~" for character in method):
        raise MethodNotFound(f"Method not found: {method[:80]!r}")
    headers = {VERSION_HEADER: request.params["_meta"][VERSION_KEY], METHOD_HEADER: method}
    named = request.params.get(NAMED_BY.get(method, ""))
    if isinstance(named, str):
        headers[NAME_HEADER] = encode_value(named)
    arguments = request.params.get("arguments")
    if schema is not None and isinstance(arguments, dict):
        headers.update(_params(schema, arguments))
    return headers


def encode_value(value: str) -> str:
    """Return a value as it is sent in a header: unchanged if a header can hold it, otherwise in
    base64 with a marker."""
    plain = all(" " <= character <= "~" for character in value) and value == value.strip()
    if plain and not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    encoded = base64.b64encode(value.encode("utf-8", "surrogatepass")).decode("ascii")
    return f"=?base64?{encoded}?="


def _params(schema: Mapping[str, Any], arguments: Json) -> Iterator[tuple[str, str]]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    for name, child in properties.items():
        value = arguments.get(name)
        if not isinstance(child, Mapping) or value is None:
            continue
        header = child.get("x-mcp-header")
        if not isinstance(header, str):
            if isinstance(value, dict):
                yield from _params(child, value)
        elif not _TOKEN.fullmatch(header):
            continue
        elif isinstance(value, bool):
            yield PARAM_HEADER + header, "true" if value else "false"
        elif isinstance(value, (str, int, float)):
            yield PARAM_HEADER + header, encode_value(str(value))
