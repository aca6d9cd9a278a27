"""Hosts that speak only one era, and clients of the other era, through the gateway."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from gateway_thread import RunningGateway, running_gateway
from test_passing import CAPABILITIES, Probe

from callboard.calls.context import call_of
from callboard.protocol.peer import Ask, AskFailed
from callboard.service.resources import ServedResource
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from one_era import speak_only
from serving import Served, served, text_of
from stateless_client import Stateless
from waiting import until

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.fixture
def host() -> Iterator[Served]:
    with served(announce=True) as host:
        host.tool("ask_name", lambda ctx: str(ctx.elicit("Who?", NAME)))
        host.tool("sign_in", lambda ctx: str(ctx.elicit_url("Sign in", "https://example.org/in")))
        host.tool("think", lambda ctx: str(ctx.sample("What?", 10)["content"]["text"]))
        yield host


def test_a_session_is_asked_for_what_a_host_without_sessions_wants_to_know(
    gateway: RunningGateway, host: Served
) -> None:
    speak_only(host.app, "stateless")
    asked: list[Any] = []

    def sign_in(params: Any) -> Any:
        asked.append(params)
        return {"action": "accept", "content": {"name": "Ada"}}

    able = {**CAPABILITIES, "elicitation": {"form": {}, "url": {}}}
    with gateway.client("fake", able, {"elicitation/create": sign_in}) as client:
        assert "Ada" in text_of(client.call("ask_name"))
        assert "accept" in text_of(client.call("sign_in"))
    # In sessions of 2025-11-25, a question that has a URL also has an id.
    assert asked[0]["requestedSchema"]["required"] == ["name"]
    assert asked[1]["url"] == "https://example.org/in"
    assert asked[1]["elicitationId"]


def test_a_sessions_refusal_ends_a_call_of_a_host_without_sessions(
    gateway: RunningGateway, host: Served
) -> None:
    speak_only(host.app, "stateless")
    answers = {
        "sampling/createMessage": lambda params: {"error": {"code": -1, "message": "no model"}},
        "elicitation/create": lambda params: {"error": {"code": -1, "message": "nobody is here"}},
    }
    with gateway.client("", CAPABILITIES, answers) as client:
        client.listen()
        client.call("instances__attach", {"instance": "fake"})
        asked = client.request("tools/call", {"name": "fake__think", "arguments": {}})
        assert "no model" in str(asked)
        assert "cancel" in text_of(client.call("fake__ask_name"))


def test_a_session_is_told_as_sessions_are(gateway: RunningGateway, host: Served) -> None:
    speak_only(host.app, "stateless")
    host.app.resources.add(ServedResource("file:///x", "x", read=lambda: "text"))
    with gateway.client("fake") as client:
        listed = client.request("tools/list")["result"]
        assert "ask_name" in [tool["name"] for tool in listed["tools"]]
        assert not {"resultType", "ttlMs", "cacheScope"} & set(listed)
        missing = client.request("resources/read", {"uri": "file:///none"})["error"]
        assert missing["code"] == -32002
        assert client.request("resources/read", {"uri": "file:///x"})["result"]["contents"]
        refused = client.request("logging/setLevel", {"level": "loud"})
        assert "level must be one of" in refused["error"]["message"]


# -- clients without sessions, hosts that require sessions -----------------------------------------


ANSWERS = {
    "elicitation/create": {"action": "accept", "content": {"name": "Ada"}},
    "sampling/createMessage": {
        "role": "assistant",
        "content": {"type": "text", "text": "Ada thinks"},
        "model": "test",
    },
    "roots/list": {"roots": [{"uri": Path("/projects/Ada").absolute().as_uri()}]},
    "ai.nimblebrain/resources/read": {
        "contents": [{"uri": "files://x", "mimeType": "text/plain", "text": "of Ada"}]
    },
}


FORM = Ask("elicitation/create", {"message": "Who?", "requestedSchema": NAME})


async def asks_unseen(ctx: Any, ask: Ask) -> Any:
    """Ask as other vendors' hosts do, without checking the client's declared capabilities."""
    request = call_of(ctx).request
    return await request.session.ask_on(request.channel, ask)


class Ada(Stateless):
    """A client that answers every question, however many rounds it takes."""

    def __init__(self, raw: FakeClient) -> None:
        able = {**CAPABILITIES, "elicitation": {"form": {}, "url": {}}}
        super().__init__(raw, able)
        self.asked: list[str] = []

    def answered(self, tool: str, **meta: Any) -> Any:
        """Call a tool, answer its questions, and return the response."""
        params: dict[str, Any] = {"name": tool, "arguments": {}}
        while True:
            message, headers = self.message("tools/call", params)
            message["params"]["_meta"] = {**message["params"]["_meta"], **meta}
            response = self.raw.post(message, headers).message
            result = response.get("result", {})
            if result.get("resultType") != "input_required":
                return response
            questions = result["inputRequests"]
            self.asked += [question["method"] for question in questions.values()]
            given = {key: ANSWERS[question["method"]] for key, question in questions.items()}
            params["inputResponses"] = given
            params["requestState"] = result["requestState"]

    def told(self, tool: str) -> str:
        return text_of(self.answered(tool)["result"])


@pytest.fixture
def of_sessions(host: Served) -> Probe:
    speak_only(host.app, "sessions")
    probe = Probe(host)
    probe.offer()
    return probe


@pytest.fixture
def ada(gateway: RunningGateway, of_sessions: Probe) -> Ada:
    return Ada(gateway.client("fake"))


def test_a_request_ends_with_what_a_session_would_be_asked(ada: Ada) -> None:
    assert "Ada" in ada.told("ask_name")
    assert "accept" in ada.told("sign_in")
    assert ada.told("think") == "Ada thinks"
    assert ada.told("file_of") == "of Ada"
    ada.answered("steps")
    assert "/projects/Ada" in ada.told("roots_of")
    assert set(ada.asked) == set(ANSWERS)


def test_what_is_listed_and_read_looks_as_this_era_has_it(
    gateway: RunningGateway, of_sessions: Probe
) -> None:
    client = Stateless(gateway.client("fake"))
    of_sessions.host.app.resources.add(ServedResource("file:///x", "x", read=lambda: "text"))
    of_sessions.host.app.prompts.register_prompt("greet", "Greets.", [], "Hi")
    listed = client.request("tools/list")["result"]
    assert "ask_name" in [tool["name"] for tool in listed["tools"]]
    assert listed["resultType"] == "complete"
    assert client.request("server/discover")["result"]["capabilities"]["tools"]
    read = client.request("resources/read", {"uri": "file:///x"})
    assert read["result"]["contents"][0]["text"] == "text"
    assert client.request("resources/read", {"uri": "file:///none"})["error"]["code"] == -32602
    assert "Hi" in str(client.request("prompts/get", {"name": "greet"})["result"])


def test_progress_and_wanted_logs_are_told_while_the_call_runs(ada: Ada) -> None:
    level = {"io.modelcontextprotocol/logLevel": "info"}
    assert "result" in ada.answered("steps", progressToken="t", **level)
    steps = ada.raw.wait_for("notifications/progress", 2)
    assert [step["params"]["progress"] for step in steps] == [1, 2]
    assert "step 1" in str(ada.raw.wait_for("notifications/message", 2)[0])
    ada.raw.received.clear()
    ada.answered("steps")
    assert ada.raw.received == []


def test_calls_that_follow_each_other_share_a_session_in_the_host(ada: Ada, host: Served) -> None:
    def sessions() -> set[str]:
        return {session.id for session in host.app.endpoint.sessions}

    ada.told("roots_of")
    before = sessions()
    for _ in range(3):
        ada.told("roots_of")
    assert sessions() == before


def test_a_gateway_that_stops_leaves_no_session_in_the_host(host: Served, home: Path) -> None:
    speak_only(host.app, "sessions")
    Probe(host).offer()
    with running_gateway() as gateway:
        Ada(gateway.client("fake")).told("roots_of")
        assert list(host.app.endpoint.sessions)
    until(lambda: not list(host.app.endpoint.sessions), "the end of the gateway's sessions")


def test_a_call_whose_client_goes_away_ends_in_the_host(
    gateway: RunningGateway, of_sessions: Probe
) -> None:
    client = Stateless(gateway.client("fake"))
    message, headers = client.message("tools/call", {"name": "forever", "arguments": {}})
    message["params"]["_meta"] = {**message["params"]["_meta"], "progressToken": "t"}
    given = {**client.raw.headers, **headers}
    with closing(HTTPConnection(*client.raw.address, timeout=DEADLINE)) as connection:
        connection.request("POST", client.raw.path, json.dumps(message).encode(), given)
        with connection.getresponse() as response:
            assert any(b"notifications/progress" in line for line in response)
    assert of_sessions.cancelled.wait(DEADLINE)


@pytest.mark.usefixtures("of_sessions")
def test_an_answer_counts_once(gateway: RunningGateway) -> None:
    ada = Stateless(gateway.client("fake"), {"elicitation": {}})
    asked = ada.call("ask_name")
    (key,) = asked["inputRequests"]
    params = {
        "name": "ask_name",
        "arguments": {},
        "inputResponses": {key: ANSWERS["elicitation/create"]},
        "requestState": asked["requestState"],
    }
    assert "Ada" in text_of(ada.request("tools/call", params)["result"])
    assert "requestState is not valid" in ada.request("tools/call", params)["error"]["message"]


@pytest.mark.usefixtures("of_sessions")
def test_a_question_keeps_the_name_that_its_tool_gave_it(
    gateway: RunningGateway, host: Served
) -> None:
    host.tool("who", lambda ctx: str(ctx.elicit("Who?", NAME, key="user_name").content))
    client = Stateless(gateway.client("fake"), {"elicitation": {}})
    asked = client.call("who")["inputRequests"]
    assert list(asked) == ["user_name"]
    assert "_meta" not in asked["user_name"]["params"]
    # A host that knows the name may answer at once, without a question.
    known = {"user_name": ANSWERS["elicitation/create"], "unknown": {"action": "decline"}}
    call = {"name": "who", "arguments": {}, "inputResponses": known}
    assert "Ada" in text_of(client.request("tools/call", call)["result"])
    call["inputResponses"] = {"user_name": 5}
    refused = client.request("tools/call", call)["error"]
    assert (refused["code"], "must be an object" in refused["message"]) == (-32602, True)


def test_a_name_that_comes_again_is_another_question(ada: Ada, host: Served) -> None:
    async def ask_twice(ctx: Any) -> list[Any]:
        return [await asks_unseen(ctx, FORM.named("same")) for _ in range(2)]

    host.tool("ask_twice", ask_twice)
    assert ada.told("ask_twice").count("Ada") == 2
    assert len(ada.asked) == 2


def test_what_its_client_would_have_to_declare_a_call_says(
    gateway: RunningGateway, of_sessions: Probe
) -> None:
    async def asks_anyway(ctx: Any) -> Any:
        return await asks_unseen(ctx, FORM)

    async def can_do_without(ctx: Any) -> str:
        with suppress(AskFailed):
            await asks_unseen(ctx, FORM)
        return "done without"

    for tool in (asks_anyway, can_do_without):
        of_sessions.host.tool(tool.__name__, tool)
    client = Stateless(gateway.client("fake"))
    for tool, needed in (
        ("think", {"sampling": {}}),
        ("asks_anyway", {"elicitation": {"form": {}}}),
    ):
        asking = client.message("tools/call", {"name": tool, "arguments": {}})
        answer = client.raw.post(*asking)
        error = answer.message["error"]
        assert (answer.status, error["code"]) == (400, -32021)
        assert error["data"] == {"requiredCapabilities": needed}
        assert "The application said: " in error["message"]
    assert "done without" in text_of(client.call("can_do_without"))


def test_changes_of_its_lists_and_resources_are_told_to_who_listens(
    ada: Ada, of_sessions: Probe
) -> None:
    app = of_sessions.host.app
    app.resources.add(ServedResource("file:///x", "x", read=lambda: "text"))
    ada.listen(toolsListChanged=True, resourceSubscriptions=["file:///x"])
    until(lambda: "file:///x" in app.endpoint.subscriptions.watched(), "the subscription")
    of_sessions.host.tool("another", lambda: "new")
    ada.raw.wait_for("notifications/tools/list_changed")
    app.guest.loop.call_soon_threadsafe(app.endpoint.subscriptions.resource_updated, "file:///x")
    ada.raw.wait_for("notifications/resources/updated")
