"""``batch__run`` makes several calls with one question and one undo step. It keeps either all of
their changes or none."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.content import Image, Json
from callboard.errors import CAPABILITY_MISSING, INVALID_PARAMS, REFUSED_BY_ARTIST
from callboard.host import SCENE_MUTATE
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from clients.panel_artist import Artist, in_thread
from serving import Served, served, text_of
from skills.scripting_host import ScriptingHost
from waiting import until

MUTATES = {"required_capabilities": (SCENE_MUTATE,), "annotations": {"destructiveHint": False}}


@pytest.fixture
def server() -> Iterator[Served]:
    with served(skills=True) as running:
        yield running


def cube(name: str) -> Json:
    return {"tool": "scene__create_primitive", "arguments": {"kind": "cube", "name": name}}


def asked(tool: str, **arguments: Any) -> Json:
    return {"tool": tool, "arguments": arguments}


def names(server: Served) -> list[str]:
    return server.on_main(server.host.scene.names)


def error_of(client: FakeClient, *calls: Json) -> Json:
    params = {"name": "batch__run", "arguments": {"calls": list(calls)}}
    error: Json = client.request("tools/call", params)["error"]
    return error


def failure_of(client: FakeClient, *calls: Json) -> str:
    result = client.call("batch__run", {"calls": list(calls)})
    assert result["isError"] is True
    return text_of(result)


# -- the calls and their result ---------------------------------------------------------------


def test_all_calls_are_one_undo_step(server: Served, client: FakeClient) -> None:
    result = client.call("batch__run", {"calls": [cube(f"c{n}") for n in range(40)]})
    results = result["structuredContent"]["results"]
    assert [one["tool"] for one in results] == ["scene__create_primitive"] * 40
    assert results[3]["result"]["object"]["path"] == "/c3"
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert server.host.undo_stack.steps == ["Callboard: batch__run"]
    undone = server.on_main(lambda: server.host.undo.undo(result["_meta"]["callboard/undo"]))
    assert undone is True
    assert names(server) == []


def test_later_calls_use_earlier_results(server: Served, client: FakeClient) -> None:
    path = {"$result": 0, "path": "object.path"}
    result = client.call(
        "batch__run",
        {
            "calls": [
                cube("Table"),
                asked("scene__transform", name=path, translate=[1, 2, 3]),
                asked("scene__select", names=[path]),
                asked("scene__get_object", name={"$result": 2, "path": "selection.0"}),
            ]
        },
    )
    assert result["isError"] is False, text_of(result)
    last = result["structuredContent"]["results"][3]["result"]
    assert last["path"] == "/Table"
    assert last["translate"] == [1, 2, 3]


def test_a_brief_answer_tells_of_changes_only_what_changed(client: FakeClient) -> None:
    renamed = asked("scene__rename", name={"$result": 0, "path": "object.path"}, new_name="Renamed")
    calls = [cube("Box"), renamed, asked("scene__get_object", name="Renamed")]
    result = client.call("batch__run", {"calls": calls, "brief": True})
    made, named, read = (each["result"] for each in result["structuredContent"]["results"])
    assert made == {"changed": [], "created": ["/Box"], "verified": True}
    assert set(named) == {"changed", "created", "verified"}
    assert read["bounds"] is not None


def test_one_that_fails_rolls_back_all_and_says_which(server: Served, client: FakeClient) -> None:
    text = failure_of(client, cube("A"), cube("B"), asked("scene__delete", names=["Nobody"]))
    assert "call 2 (scene__delete) failed" in text
    assert "no object named 'Nobody'" in text
    assert "were rolled back" in text
    assert names(server) == []
    assert server.host.undo_stack.steps == []


def test_an_answer_that_says_no_rolls_back_all(server: Served, client: FakeClient) -> None:
    server.tool("refuse", lambda: {"success": False, "message": "no room"}, **MUTATES)
    assert "call 1 (refuse) failed" in failure_of(client, cube("A"), asked("refuse"))
    assert names(server) == []


def test_pictures_are_in_the_answer(server: Served, client: FakeClient) -> None:
    server.tool("picture", lambda: Image(b"png"), **MUTATES)
    result = client.call("batch__run", {"calls": [cube("A"), asked("picture")]})
    assert [block["type"] for block in result["content"]] == ["text", "image"]


def test_slices_run_to_the_end_in_the_same_step(server: Served, client: FakeClient) -> None:
    def build(ctx: Any) -> Iterator[None]:
        for number in range(20):
            ctx.port(SCENE_MUTATE).create("cube", f"s{number}", {})
            yield

    server.tool("build", build, **MUTATES)
    assert client.call("batch__run", {"calls": [asked("build"), cube("A")]})["isError"] is False
    assert len(names(server)) == 21
    assert len(server.host.undo_stack.steps) == 1


def test_the_panel_says_what_the_calls_did(server: Served, client: FakeClient) -> None:
    moved = asked("scene__transform", name="/A", translate=[1, 2, 3])
    client.call("batch__run", {"calls": [cube("A"), moved, cube("B")]})
    change = server.app.dispatcher.changed.all()[-1]
    assert change.words == "created /A; moved /A; created /B"
    assert change.objects == ("/A", "/B")


def test_a_batch_that_is_cancelled_puts_all_back(server: Served, client: FakeClient) -> None:
    entered, release = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        release.wait(DEADLINE)

    server.tool("hold", hold, **MUTATES)
    calls = [cube("A"), asked("hold"), cube("B")]
    params = {"name": "batch__run", "arguments": {"calls": calls}}
    message = {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": params}
    calling = client.in_thread(lambda: client.post(message))
    assert entered.wait(DEADLINE)
    client.notify("notifications/cancelled", {"requestId": "b"})
    until(
        lambda: (
            any(call.cancelled for call in list(server.app.dispatcher.calls.values()))
            or not server.app.dispatcher.calls
        ),
        "the cancellation",
    )
    release.set()
    assert calling.result(DEADLINE).messages == []
    assert names(server) == []


# -- checks before a call ---------------------------------------------------------------------


def test_each_call_passes_the_gate_before_any_runs(server: Served, client: FakeClient) -> None:
    server.app.capabilities.withdraw("usd")
    error = error_of(client, cube("A"), asked("usd__export_usd", path="/tmp/a.usda"))
    assert error["code"] == CAPABILITY_MISSING
    assert error["data"]["tool"] == "usd__export_usd"
    assert "capability_missing: tool 'usd__export_usd' requires usd" in error["message"]
    error = error_of(client, cube("A"), asked("nobody__knows"))
    assert error["code"] == INVALID_PARAMS
    assert names(server) == []
    assert server.host.undo_stack.steps == []


def test_arguments_are_checked_before_any_runs(server: Served, client: FakeClient) -> None:
    text = failure_of(client, cube("A"), asked("scene__transform", name=5))
    assert "call 1: invalid arguments for scene__transform" in text
    assert "nothing was run" in text
    later = asked("scene__transform", name={"$result": 0, "path": "object"})
    assert "call 1 (scene__transform) failed" in failure_of(client, cube("A"), later)
    assert names(server) == []


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ({"$result": 1}, "must name an earlier call"),
        ({"$result": -1}, "must name an earlier call"),
        ({"$result": True}, "must name an earlier call"),
        ({"$result": "0"}, "must name an earlier call"),
        ({"$result": 0, "path": "object.nothing"}, "has no 'nothing'"),
        ({"$result": 0, "path": "object.__class__"}, "has no '__class__'"),
        ({"$result": 0, "path": "object.translate.9"}, "has no '9'"),
    ],
)
def test_a_reference_that_leads_nowhere_is_told(
    server: Served, client: FakeClient, reference: Json, says: str
) -> None:
    assert says in failure_of(client, cube("A"), asked("scene__get_object", name=reference))
    assert names(server) == []


def test_what_needs_the_loop_is_refused(server: Served, client: FakeClient) -> None:
    async def later() -> None: ...

    def ask(ctx: Any) -> None:
        ctx.elicit("Sure?", {"type": "object", "properties": {}})

    server.tool("later", later, **MUTATES)
    server.tool("job", lambda: None, execution="async", **MUTATES)
    server.tool("ask", ask, **MUTATES)
    assert "is a job" in failure_of(client, cube("A"), asked("job"))
    assert "doesn't run on the main thread" in failure_of(client, cube("A"), asked("later"))
    assert "doesn't run on the main thread" in failure_of(
        client, asked("skills__search", query="x")
    )
    assert "can't contain another batch" in failure_of(
        client, asked("batch__run", calls=[cube("A")])
    )
    assert "asks its client" in failure_of(client, cube("A"), asked("ask"))
    assert names(server) == []


def test_the_number_of_calls_is_bounded(client: FakeClient) -> None:
    assert "calls" in failure_of(client, *[cube("A")] * 101)
    assert "calls" in failure_of(client)


def test_paths_pass_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    with (
        served(skills=True, roots=[str(tmp_path / "root")], roots_policy="strict") as server,
        server.client() as client,
    ):
        save = asked("scene__save_file", path="shots/a.json")
        assert not client.call("batch__run", {"calls": [cube("A"), save]})["isError"]
        assert (tmp_path / "root" / "shots" / "a.json").exists()
        for path in (str(tmp_path / "b.json"), "../b.json"):
            error = error_of(client, cube("B"), asked("scene__save_file", path=path))
            assert error["code"] == INVALID_PARAMS
        hidden = asked("scene__save_file", path={"$result": 0, "path": "object.path"})
        assert "a file's path can't be" in failure_of(client, cube("B"), hidden)
        assert names(server) == ["/A"]
    assert not (tmp_path / "b.json").exists()


# -- consent ----------------------------------------------------------------------------------

DELETE = asked("scene__delete", names=["A"])
SCRIPT = asked("script__execute", code="scene.create('cube', 'S', {})")


@pytest.fixture
def attended() -> Iterator[tuple[Served, FakeClient, Artist]]:
    with served(ScriptingHost, skills=True) as server, server.client() as client:
        artist = Artist(server)
        artist.controls.set_consent_policy("destructive", "ask")
        until(lambda: "script.execute" in server.app.capabilities.declared, "scripts")
        yield server, client, artist


Attended = tuple[Served, FakeClient, Artist]


def test_one_question_shows_every_call(attended: Attended) -> None:
    server, client, artist = attended
    calls = [cube("A"), DELETE, SCRIPT]
    call = in_thread(lambda: client.call("batch__run", {"calls": calls}))
    (question,) = until(lambda: artist.seen.questions, "a question")
    assert question.arguments == {"calls": calls}
    assert "runs code of its own" in question.why
    assert "deletes or replaces things" in question.why
    artist.controls.answer(question.id, "allow")
    assert call.result(DEADLINE)["isError"] is False
    assert names(server) == ["/S"]
    assert artist.seen.grants == ()


NAMED = asked("script__execute", code={"$result": 0, "path": "object.name"})


def test_what_runs_as_code_is_written_out(attended: Attended) -> None:
    """The artist sees the code itself. If only a reference were shown, an object's name could run
    as Python unseen."""
    server, client, artist = attended
    artist.controls.set_consent_policy("script", "allow")
    until(lambda: ("script", "allow") in artist.seen.policies, "the policy")
    server.tool(
        "expression__run",
        lambda **given: given,
        required_capabilities=(SCENE_MUTATE, "script.execute"),
    )
    elsewhere = asked("expression__run", deep=[{"way": {"$result": 0}}])
    for call in (NAMED, elsewhere):
        message = failure_of(client, cube("scene.create('cube', 'Owned', {})"), call)
        assert "runs code, so none of its arguments can be a $result" in message
    assert names(server) == []


def test_who_is_asked_is_shown_what_will_run(attended: Attended) -> None:
    server, client, artist = attended
    unseen = asked("scene__delete", names=[{"$result": 0, "path": "object.path"}])
    assert "the artist is asked about scene__delete" in failure_of(client, cube("A"), unseen)
    assert names(server) == []
    assert not artist.seen.questions
    artist.controls.set_consent_policy("destructive", "allow")
    until(lambda: ("destructive", "allow") in artist.seen.policies, "the policy")
    assert client.call("batch__run", {"calls": [cube("A"), unseen]})["isError"] is False


def test_a_no_runs_nothing(attended: Attended) -> None:
    server, client, artist = attended
    call = in_thread(lambda: error_of(client, cube("A"), DELETE))
    (question,) = until(lambda: artist.seen.questions, "a question")
    artist.controls.answer(question.id, "refuse")
    assert call.result(DEADLINE)["code"] == REFUSED_BY_ARTIST
    assert names(server) == []


def test_a_policy_that_refuses_one_refuses_all(attended: Attended) -> None:
    server, client, artist = attended
    artist.controls.set_consent_policy("destructive", "refuse")
    artist.controls.set_consent_policy("script", "allow")
    until(lambda: ("destructive", "refuse") in artist.seen.policies, "the policy")
    assert error_of(client, cube("A"), SCRIPT, DELETE)["code"] == REFUSED_BY_ARTIST
    assert names(server) == []


def test_a_grant_is_for_the_tools_and_not_for_batches(attended: Attended) -> None:
    """A grant for one tool doesn't cover another tool in the same batch call."""
    _, client, artist = attended
    call = in_thread(lambda: client.call("batch__run", {"calls": [cube("A"), DELETE]}))
    (question,) = until(lambda: artist.seen.questions, "a question")
    artist.controls.answer(question.id, "allow_tool")
    assert call.result(DEADLINE)["isError"] is False
    until(lambda: artist.seen.grants, "a grant")
    assert [grant.tool for grant in artist.seen.grants] == ["scene__delete"]
    assert client.call("batch__run", {"calls": [cube("A"), DELETE]})["isError"] is False
    call = in_thread(lambda: error_of(client, cube("A"), DELETE, SCRIPT))
    (question,) = until(lambda: artist.seen.questions, "a question")
    assert question.subject == "script"
    artist.controls.answer(question.id, "refuse")
    assert call.result(DEADLINE)["code"] == REFUSED_BY_ARTIST


def test_a_pause_refuses_it(server: Served, client: FakeClient) -> None:
    server.app.guest.loop.call_soon_threadsafe(server.app.dispatcher.pause)
    until(lambda: server.app.dispatcher.paused, "the pause")
    assert error_of(client, cube("A"))["code"] == -31004
