"""Calls that need the artist's approval. `tests/ui` tests the cards."""

from __future__ import annotations

from typing import Any

from callboard.calls.consent import ConsentDesk
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import FakeHost
from clients.panel_artist import Artist, in_thread
from serving import served
from waiting import until

CODE = {"type": "object", "properties": {"code": {"type": "string"}}}


class Scripting(FakeHost):
    where = "the menu Callboard"

    def __init__(self) -> None:
        super().__init__()
        self.set_ports({**self.ports, "script.execute": object()})


def run_code(client: FakeClient, code: str = "1") -> Any:
    return client.request("tools/call", {"name": "run", "arguments": {"code": code}})


def test_code_is_offered_while_somebody_is_there_and_each_call_asks() -> None:
    with served(Scripting) as server, server.client() as client:
        server.tool("run", lambda code: code, CODE, required_capabilities=("script.execute",))
        client.listen()
        assert run_code(client)["error"]["code"] == -32001
        heard = len(client.wait_for("notifications/tools/list_changed"))
        controls = server.app.controls
        controls.status.watch(lambda snapshot: None)
        leave = controls.attend()
        client.wait_for("notifications/tools/list_changed", heard + 1)
        for code in ("1", "2"):
            call = in_thread(lambda code=code: run_code(client, code))  # type: ignore[misc]
            question = until(lambda: controls.status.snapshot.questions, "a question")[0]
            assert question.arguments == {"code": code}
            controls.answer(question.id, "allow")
            assert call.result(20)["result"]["structuredContent"] == {"result": code}
            until(lambda: not controls.status.snapshot.questions, "no question")
        # If the artist leaves without answering, the call isn't allowed.
        call = in_thread(lambda: run_code(client))
        until(lambda: controls.status.snapshot.questions, "a question")
        leave()
        assert "error" in call.result(20)
        client.wait_for("notifications/tools/list_changed", heard + 2)
        assert run_code(client)["error"]["code"] == -32001


def test_a_tool_that_is_not_offered_says_in_words_who_changes_that() -> None:
    def told(client: FakeClient) -> str:
        tools = client.request("tools/list")["result"]["tools"]
        return str(next(tool["description"] for tool in tools if tool["name"] == "run"))

    with served(Scripting) as server, server.client() as client:
        needs = ("scene.read", "script.execute", "sculpting")
        server.tool("run", lambda code: code, CODE, required_capabilities=needs)
        assert told(client) == (
            "Does run. Not available now: script.execute is offered only while an artist is there "
            "to be asked: have the artist open callboard, in the menu Callboard, or start it with "
            "`callboard serve --allow script.execute`; Fake Host does not offer sculpting."
        )
        # Programs may rely on the error's message, so it gets no such explanation.
        assert run_code(client)["error"]["message"] == (
            "capability_missing: tool 'run' requires script.execute, sculpting"
        )
        artist = Artist(server)
        artist.controls.withdraw("scene.read")
        switched = "the artist switched scene.read off, and can switch it on in the menu Callboard"
        until(lambda: switched in told(client), "what the artist did")
        assert "script.execute" not in told(client)


def test_code_runs_unattended_only_where_that_was_allowed_from_the_start() -> None:
    with served(Scripting, allow=["script.execute"]) as server, server.client() as client:
        server.tool("run", lambda code: code, CODE, required_capabilities=("script.execute",))
        assert "result" in run_code(client)
    with (
        served(Scripting, allow=["script.execute"], deny=["script.execute"]) as server,
        server.client() as client,
    ):
        server.tool("run", lambda code: code, CODE, required_capabilities=("script.execute",))
        assert run_code(client)["error"]["code"] == -32001


def test_a_refusal_says_where_the_artist_changes_it() -> None:
    with served(Scripting, allow=["script.execute"]) as server, server.client() as client:
        server.tool("run", lambda code: code, CODE, required_capabilities=("script.execute",))
        artist = Artist(server)
        artist.controls.set_consent_policy("script", "refuse")
        until(lambda: dict(artist.seen.policies).get("script") == "refuse", "the policy")
        assert "the menu Callboard" in run_code(client)["error"]["message"]
        artist.controls.pause()
        until(lambda: artist.seen.paused, "the pause")
        assert "in the menu Callboard" in run_code(client)["error"]["message"]


def test_another_project_without_rules_keeps_what_was_stricter() -> None:
    desk = ConsentDesk("the panel")
    desk.set_policy("destructive", "refuse")
    desk.set_policy("script", "allow")
    desk.use_project(None, ())
    assert (desk.policies["destructive"], desk.policies["script"]) == ("refuse", "ask")
    desk.use_project({"destructive": "allow"}, ())
    assert desk.policies["destructive"] == "allow"
