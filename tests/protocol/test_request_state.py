"""A requestState that is forged, edited, replayed, expired or meant for something else is refused,
and runs nothing."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from time import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.errors import INVALID_PARAMS, InvalidParams
from callboard.protocol.request_state import LIFETIME, MEMORY, RequestStates
from callboard_testing.fake_client import FakeClient
from serving import Served, served, text_of

Json = dict[str, Any]
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}
FORM = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class Asking:
    """A server with a tool that asks twice, and the arguments with which the tool has run."""

    def __init__(self, app: Served) -> None:
        self.client: FakeClient = app.client()
        self.runs: list[Json] = []
        app.tool("ask", self.ask)
        app.tool("other", self.ask)
        app.app.prompts.register_function("ask", self.ask)

    def ask(self, ctx: Any, **arguments: Any) -> str:
        self.runs.append(arguments)
        first = ctx.elicit("First?", FORM, key="first").content["text"]
        second = ctx.elicit("Second?", FORM, key="second").content["text"]
        return f"{first} {second}"

    def post(self, method: str, params: Json) -> Json:
        headers = {
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
            "Mcp-Name": params["name"],
        }
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": method,
            "params": {**params, "_meta": META},
        }
        answer: Json = self.client.post(message, headers).message
        return answer

    def call(self, method: str = "tools/call", name: str = "ask", **params: Any) -> Json:
        if method == "tools/call":
            params.setdefault("arguments", {"n": 1})
        return self.post(method, {"name": name, **params})

    def state(self) -> str:
        """Return the state of a call that is waiting for its first answer."""
        result = self.call()["result"]
        assert result["resultType"] == "input_required"
        assert list(result["inputRequests"]) == ["first"]
        state: str = result["requestState"]
        return state

    def refused(self, **params: Any) -> bool:
        """Return whether a retry with a first answer is refused. If it is, check that nothing has
        run."""
        before = len(self.runs)
        answer = self.call(**{"inputResponses": given_text("first", "one"), **params})
        if "error" not in answer:
            return False
        assert answer["error"]["code"] == INVALID_PARAMS
        assert "requestState" in answer["error"]["message"]
        assert len(self.runs) == before
        return True


def given_text(key: str, text: str) -> Json:
    return {key: {"action": "accept", "content": {"text": text}}}


@pytest.fixture(scope="module")
def asking() -> Iterator[Asking]:
    with served() as app:
        yield Asking(app)


def test_a_state_carries_the_first_answer_to_the_second_round(asking: Asking) -> None:
    first = asking.call(inputResponses=given_text("first", "one"), requestState=asking.state())
    result = first["result"]
    assert list(result["inputRequests"]) == ["second"]
    done = asking.call(
        inputResponses=given_text("second", "two"), requestState=result["requestState"]
    )
    assert text_of(done["result"]) == "one two"


def test_an_earlier_answer_cannot_be_changed_later(asking: Asking) -> None:
    first = asking.call(inputResponses=given_text("first", "one"), requestState=asking.state())
    answers = {**given_text("first", "forged"), **given_text("second", "two")}
    done = asking.call(inputResponses=answers, requestState=first["result"]["requestState"])
    assert text_of(done["result"]) == "one two"


def test_a_state_is_good_once(asking: Asking) -> None:
    state = asking.state()
    assert not asking.refused(requestState=state)
    assert asking.refused(requestState=state)


def test_a_state_expires() -> None:
    now = [time()]
    states = RequestStates(clock=lambda: now[0])
    state, late = (states.make("tools/call", {}, {"name": "Ada"}, "me") for _ in range(2))
    now[0] += LIFETIME - 60
    assert states.open(state, "tools/call", {}, "me") == {"name": "Ada"}
    now[0] += 61
    with pytest.raises(InvalidParams):
        states.open(late, "tools/call", {}, "me")


def test_a_state_from_the_future_is_refused() -> None:
    now = [time()]
    states = RequestStates(clock=lambda: now[0])
    state = states.make("tools/call", {}, {}, "me")
    now[0] -= 60
    with pytest.raises(InvalidParams):
        states.open(state, "tools/call", {}, "me")


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"name": "other"},
        {"arguments": {"n": 2}},
        {"arguments": {"n": 1, "more": None}},
        {"arguments": {"n": 1.5}},
        {"arguments": {"n": "1"}},
        {"arguments": {"n": True}},
        {"arguments": {}},
        {"arguments": None},
        {"method": "prompts/get"},
    ],
    ids=str,
)
def test_a_state_is_for_the_call_it_was_made_for(asking: Asking, elsewhere: Json) -> None:
    assert asking.refused(requestState=asking.state(), **elsewhere)


def test_a_state_of_another_server_is_refused(asking: Asking) -> None:
    stranger = RequestStates()
    params = {"name": "ask", "arguments": {"n": 1}}
    assert asking.refused(requestState=stranger.make("tools/call", params, {}, "local"))


@pytest.mark.parametrize("state", [None, 0, True, "", ".", "..", "a.b", [], {}, "é.é", "\ud800"])
def test_what_is_no_state_is_refused(asking: Asking, state: Any) -> None:
    assert asking.refused(requestState=state)


@pytest.mark.parametrize(
    "edit",
    [
        lambda s: s + "-TAMPERED",
        lambda s: s + "=",
        lambda s: s + "\n",
        lambda s: s + "." + s,
        lambda s: " " + s,
        lambda s: s[:-1],
        lambda s: s.rstrip("="),
        lambda s: s.partition(".")[0],
        lambda s: s.partition(".")[0] + ".",
        lambda s: "." + s.partition(".")[2],
        lambda s: ".".join(reversed(s.split("."))),
        lambda s: s.upper(),
        lambda s: s.replace("-", "+").replace("_", "/") + "=",
    ],
)
def test_an_edited_state_is_refused(asking: Asking, edit: Any) -> None:
    assert asking.refused(requestState=edit(asking.state()))


def test_a_state_whose_content_was_edited_is_refused(asking: Asking) -> None:
    body, _, signature = asking.state().partition(".")
    content = json.loads(base64.urlsafe_b64decode(body))
    content["answers"] = {**given_text("first", "forged"), **given_text("second", "forged")}
    forged = base64.urlsafe_b64encode(json.dumps(content).encode()).decode()
    assert asking.refused(requestState=f"{forged}.{signature}")


STATES = RequestStates()
PARAMS = {"name": "ask", "arguments": {}}
STATE = STATES.make("tools/call", PARAMS, {}, "me")


@settings(deadline=None)
@given(st.integers(0, len(STATE) - 1), st.characters())
def test_no_other_character_anywhere_is_accepted(place: int, character: str) -> None:
    edited = STATE[:place] + character + STATE[place + 1 :]
    if edited != STATE:
        with pytest.raises(InvalidParams):
            STATES.open(edited, "tools/call", PARAMS, "me")


def test_a_used_state_is_never_forgotten_into_being_good_again() -> None:
    states = RequestStates()
    first = states.make("tools/call", PARAMS, {}, "me")
    states.open(first, "tools/call", PARAMS, "me")
    for _ in range(MEMORY + 1):
        states.open(states.make("tools/call", PARAMS, {}, "me"), "tools/call", PARAMS, "me")
    with pytest.raises(InvalidParams):
        states.open(first, "tools/call", PARAMS, "me")
