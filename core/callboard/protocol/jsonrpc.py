"""Converts JSON-RPC 2.0 messages between bytes and plain values.

MCP narrows JSON-RPC: ids are strings or integers, never null, and params are objects
(specification, Base Protocol, every revision).
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple, NoReturn, TypeGuard

from callboard.content import Json
from callboard.errors import CallboardError, InvalidParams, ParseError, PeerError

Id = str | int

#: Maximum nesting of arrays and objects. Deeper values are refused before their content is read.
DEPTH_LIMIT = 64


class Request(NamedTuple):
    id: Id
    method: str
    params: Json = {}  # noqa: RUF012 - never written to


class Notification(NamedTuple):
    method: str
    params: Json = {}  # noqa: RUF012 - never written to


class Response(NamedTuple):
    id: Id
    result: Json | None
    error: Json | None


class Invalid(NamedTuple):
    """A value that isn't a message. ``id`` is its id, or None if that couldn't be read."""

    id: Id | None
    error: CallboardError


Message = Request | Notification | Response | Invalid


def decode(body: bytes | bytearray) -> Any:
    """Return the JSON value in ``body``. Raises ParseError and nothing else."""
    try:
        # json would guess UTF-16 and UTF-32, and treat a byte order mark as a syntax error.
        text = body.decode("utf-8")
        value = _decode_plain(text)
    except UnicodeDecodeError as error:
        raise ParseError(f"the body is not UTF-8: byte {error.start} can't be decoded") from None
    except RecursionError:
        raise ParseError("the body is nested too deeply") from None
    except (json.JSONDecodeError, _NotANumber) as error:
        raise ParseError(f"the body is not JSON: {error}") from None
    except ValueError:  # The number is too long for Python, whose own message is for programmers.
        raise ParseError(
            "the body contains an integer with thousands of digits; shorten it"
        ) from None
    # A string with no more opening brackets than the limit can't be deeper. That covers nearly
    # every message.
    if text.count("{") + text.count("[") > DEPTH_LIMIT:
        _check_depth(value)
    return value


class _NotANumber(ValueError):
    pass


def refuse_constant(name: str) -> NoReturn:
    """Raise ValueError, because Infinity and NaN aren't JSON. Pass it to ``json`` as
    ``parse_constant``."""
    raise _NotANumber(f"{name} is not a JSON number")


_decode_plain = json.JSONDecoder(parse_constant=refuse_constant).decode


def _check_depth(value: Any) -> None:
    level = [value] if isinstance(value, (dict, list)) else []
    depth = 0
    while level:
        depth += 1
        if depth > DEPTH_LIMIT:
            raise ParseError(f"the body is nested more than {DEPTH_LIMIT} levels deep")
        deeper: list[Any] = []
        for item in level:
            children = item.values() if isinstance(item, dict) else item
            deeper.extend(child for child in children if isinstance(child, (dict, list)))
        level = deeper


def encode(value: Any) -> bytes:
    """Return ``value`` as compact JSON. Raises ValueError for a value that JSON can't express."""
    try:
        return _encode_plain(value).encode("utf-8")
    except UnicodeEncodeError:
        # Lone surrogates can't be written in UTF-8, but survive when escaped.
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None


_encode_plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def is_id(value: Any) -> TypeGuard[Id]:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def parse(value: Any) -> Message:
    """Return ``value`` as a message. Never raises: a value that isn't a message becomes Invalid."""
    if not isinstance(value, dict):
        return Invalid(None, PeerError("a message must be a JSON object"))
    raw_id = value.get("id")
    known_id = raw_id if is_id(raw_id) else None
    if value.get("jsonrpc") != "2.0":
        return Invalid(known_id, PeerError('a message must have "jsonrpc": "2.0"'))
    if "method" in value:
        return _parse_call(value, known_id)
    if "result" in value or "error" in value:
        return _parse_response(value, known_id)
    return Invalid(known_id, PeerError("a message needs a method, a result or an error"))


def _parse_call(value: Json, known_id: Id | None) -> Message:
    method, params = value["method"], value.get("params", {})
    if not isinstance(method, str):
        return Invalid(known_id, PeerError("method must be a string"))
    if "id" in value and known_id is None:
        return Invalid(None, PeerError("id must be a string or an integer"))
    if not isinstance(params, dict):
        return Invalid(known_id, InvalidParams(f"params of {method[:80]} must be an object"))
    if "id" in value:
        assert known_id is not None
        return Request(known_id, method, params)
    return Notification(method, params)


def _parse_response(value: Json, known_id: Id | None) -> Message:
    result, error = value.get("result"), value.get("error")
    if known_id is None:
        return Invalid(None, PeerError("a response's id must be a string or an integer"))
    if ("result" in value) == ("error" in value):
        return Invalid(known_id, PeerError("a response must have either a result or an error"))
    if "error" in value:
        if not isinstance(error, dict) or not isinstance(error.get("code"), int):
            error = {"code": -32603, "message": "the peer sent a malformed error"}
        return Response(known_id, None, error)
    if not isinstance(result, dict):
        return Response(known_id, None, {"code": -32603, "message": "the result must be an object"})
    return Response(known_id, result, None)


def result_message(id: Id, result: Json) -> Json:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def error_message(id: Id | None, error: CallboardError) -> Json:
    """Return an error response. ``id`` is None if the request's id couldn't be read; the response
    then has no id, because MCP has no null id (2025-11-25, Base Protocol, Responses)."""
    body: Json = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    if id is None:
        return {"jsonrpc": "2.0", "error": body}
    return {"jsonrpc": "2.0", "id": id, "error": body}


def request_message(id: Id, method: str, params: Json | None = None) -> Json:
    message: Json = {"jsonrpc": "2.0", "id": id, "method": method}
    if params is not None:
        message["params"] = params
    return message


def notification_message(method: str, params: Json | None = None) -> Json:
    message: Json = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return message
