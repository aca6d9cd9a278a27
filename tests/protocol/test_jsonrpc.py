from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    CallboardError,
    MethodNotFound,
    ParseError,
)
from callboard.protocol.jsonrpc import (
    DEPTH_LIMIT,
    Invalid,
    Notification,
    Request,
    Response,
    decode,
    encode,
    error_message,
    parse,
    request_message,
    result_message,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
finite = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.binary())
def test_any_bytes_are_a_value_or_a_parse_error(body: bytes) -> None:
    with contextlib.suppress(ParseError):
        decode(body)


@given(values)
def test_any_value_is_some_message(value: Any) -> None:
    assert isinstance(parse(value), (Request, Notification, Response, Invalid))


@given(finite)
def test_what_is_encoded_decodes_to_the_same(value: Any) -> None:
    assert decode(encode([value])) == [value]


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b"[1,]", "JSON"),
        (b"NaN", "NaN"),
        (b'{"a": Infinity}', "Infinity"),
        (b"\xff\xfe{\x00}\x00", "UTF-8"),
        (b'"\xc3"', "UTF-8"),
        (b"[" * 100_000, "deep"),
        (b"[" * 500 + b"]" * 500, f"{DEPTH_LIMIT} levels"),
        (b'{"a":' * (DEPTH_LIMIT + 1) + b"1" + b"}" * (DEPTH_LIMIT + 1), "levels"),
    ],
)
def test_what_is_no_json_says_why(body: bytes, word: str) -> None:
    with pytest.raises(ParseError, match=word) as raised:
        decode(body)
    assert raised.value.code == PARSE_ERROR


def test_a_number_too_long_for_python_is_refused_in_words_for_clients() -> None:
    with pytest.raises(ParseError, match="thousands of digits") as refused:
        decode(b'{"id": ' + b"9" * 5000 + b"}")
    assert "sys." not in refused.value.message


def test_the_deepest_body_that_is_read() -> None:
    body = b"[" * DEPTH_LIMIT + b"]" * DEPTH_LIMIT
    assert encode(decode(body)) == body


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {(1, 2): 3}, {1}])
def test_what_json_cannot_hold_is_a_value_error(value: object) -> None:
    with pytest.raises(ValueError):
        encode({"a": value})


def test_a_cycle_is_a_value_error() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(ValueError):
        encode(cycle)


def test_lone_surrogates_survive() -> None:
    text = "a\ud800b"
    assert json.loads(encode({"text": text})) == {"text": text}


@pytest.mark.parametrize("id", [0, -1, 2**70, "", "0", "a b", "ключ"])
def test_ids_keep_their_value_and_type(id: Any) -> None:
    message = parse({"jsonrpc": "2.0", "id": id, "method": "ping"})
    assert message == Request(id, "ping", {})
    assert type(message.id) is type(id)
    assert result_message(id, {})["id"] == id


@pytest.mark.parametrize("id", [None, True, 1.5, [], {}])
def test_other_ids_are_refused_without_an_id(id: Any) -> None:
    message = parse({"jsonrpc": "2.0", "id": id, "method": "ping"})
    assert isinstance(message, Invalid)
    assert message.id is None
    assert message.error.code == INVALID_REQUEST


@pytest.mark.parametrize(
    ("value", "code", "id"),
    [
        (3, INVALID_REQUEST, None),
        ([], INVALID_REQUEST, None),
        ({}, INVALID_REQUEST, None),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, INVALID_REQUEST, 1),
        ({"id": "x", "method": "ping"}, INVALID_REQUEST, "x"),
        ({"jsonrpc": "2.0", "id": 1}, INVALID_REQUEST, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, INVALID_REQUEST, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, INVALID_PARAMS, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": None}, INVALID_PARAMS, 1),
        ({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1}}, INVALID_REQUEST, 1),
        ({"jsonrpc": "2.0", "result": {}}, INVALID_REQUEST, None),
    ],
)
def test_what_is_no_message(value: Any, code: int, id: Any) -> None:
    message = parse(value)
    assert isinstance(message, Invalid)
    assert (message.error.code, message.id) == (code, id)
    assert message.error.message


@pytest.mark.parametrize("error", [None, 5, "text", {}, {"code": "x"}, {"message": "m"}])
def test_a_malformed_error_of_the_peers_is_still_an_error(error: Any) -> None:
    message = parse({"jsonrpc": "2.0", "id": 1, "error": error})
    assert isinstance(message, Response)
    assert message.result is None
    assert message.error is not None
    assert isinstance(message.error["code"], int)


@pytest.mark.parametrize("result", [None, 5, "text", []])
def test_a_result_that_is_no_object_is_an_error(result: Any) -> None:
    message = parse({"jsonrpc": "2.0", "id": 1, "result": result})
    assert isinstance(message, Response)
    assert message.error is not None


def test_messages_have_just_the_members_they_need() -> None:
    assert request_message("a", "roots/list") == {
        "jsonrpc": "2.0",
        "id": "a",
        "method": "roots/list",
    }
    assert error_message(None, MethodNotFound("no")) == {
        "jsonrpc": "2.0",
        "error": {"code": -32601, "message": "no"},
    }
    with_data = error_message(1, CallboardError("no", data={"a": 1}, code=-5))
    assert with_data["error"] == {"code": -5, "message": "no", "data": {"a": 1}}
