"""The events that the page gets from instances, and its actions on them, without a browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gateway_thread import RunningGateway
from lying_host import lying_host
from page_visitor import Visitor, request
from test_names import open_scene

from callboard.clients.artist_key import ARTIST_HEADER, artist_word
from callboard_testing.fake_host import DEADLINE
from serving import Served, served, text_of

CODE = {"type": "object", "properties": {"code": {"type": "string"}}}

DELETES = {"destructiveHint": True}


@pytest.fixture
def host() -> Iterator[Served]:
    with served(announce=True) as running:
        running.tool("run", lambda code: f"ran {code}", CODE, required_capabilities=("usd",))
        yield running


def test_it_hears_who_is_there_and_what_they_offer(gateway: RunningGateway, host: Served) -> None:
    with Visitor(gateway).listening() as heard, gateway.client("fake"):
        # The gateway's own requests on the client's behalf, before its session exists, have no
        # holder.
        told = heard.status(
            "fake", lambda status: [one["holder"] for one in status["clients"]] == ["local"]
        )
        assert told["about"]["id"] == host.app.id
        offered = {one["name"] for one in told["status"]["capabilities"] if one["offered"]}
        assert {"usd", "scene.read"} <= offered
        host.app.capabilities.withdraw("usd")
        heard.status(
            "fake",
            lambda status: any(one["withdrawn"] for one in status["capabilities"]),
        )


def test_it_hears_that_a_scene_was_saved(gateway: RunningGateway, host: Served) -> None:
    with Visitor(gateway).listening() as heard:
        assert heard.until("fake", lambda told: told["status"])["about"]["scene"] is None
        open_scene(host, "/scenes/hero.usd", saved=True)
        heard.until("fake", lambda told: told["about"]["scene"] == "/scenes/hero.usd")


def test_it_cancels_a_call(gateway: RunningGateway, host: Served) -> None:
    going = threading.Event()

    def wait(ctx: object) -> Iterator[None]:
        going.set()
        while True:
            yield

    host.tool("wait", wait)
    visitor = Visitor(gateway)
    with visitor.listening() as heard, gateway.client("fake") as client:
        waiting = client.start("tools/call", {"name": "wait", "arguments": {}})
        assert going.wait(DEADLINE)
        told = heard.status("fake", lambda status: status["calls"])
        (call,) = told["status"]["calls"]
        assert visitor.act("cancel", call["id"], told) == (200, {"done": True})
        assert waiting.result(DEADLINE)["error"]["code"] == -31003
        told = heard.status("fake", lambda status: not status["calls"])
        status, answer = visitor.act("cancel", call["id"], told)
        assert (status, answer["detail"]) == (502, "that call has ended")


@pytest.mark.parametrize(("word", "allowed"), [("allow", True), ("refuse", False)])
def test_it_answers_a_question_that_the_panel_asks_too(
    gateway: RunningGateway, host: Served, word: str, allowed: bool
) -> None:
    host.tool("delete", lambda: "deleted", annotations=DELETES)
    leave = host.app.controls.attend()
    host.app.controls.set_consent_policy("destructive", "ask")
    visitor = Visitor(gateway)
    with visitor.listening() as heard, gateway.client("fake") as client:
        waiting = client.start("tools/call", {"name": "delete", "arguments": {}})
        told = heard.status("fake", lambda status: status["questions"])
        (question,) = told["status"]["questions"]
        assert question["tool"] == "delete"
        assert visitor.act(word, question["id"], told) == (200, {"done": True})
        answer = waiting.result(DEADLINE)
        assert ("error" not in answer) == allowed
        told = heard.status("fake", lambda status: not status["questions"])
        status, answer = visitor.act(word, question["id"], told)
        assert status == 502
        assert "has been answered" in answer["detail"]
    leave()


@pytest.mark.parametrize(
    ("word", "later"),
    [("allow_session", []), ("allow_tool", ["wipe"]), ("allow_project", [])],
)
def test_an_answer_holds_as_long_as_the_panels(
    gateway: RunningGateway, host: Served, word: str, later: list[str]
) -> None:
    for name in ("delete", "wipe"):
        host.tool(name, lambda: "gone", annotations=DELETES)
    leave = host.app.controls.attend()
    host.app.controls.set_consent_policy("destructive", "ask")
    visitor = Visitor(gateway)
    with visitor.listening() as heard, gateway.client("fake") as client:
        waiting = client.start("tools/call", {"name": "delete", "arguments": {}})
        told = heard.status("fake", lambda status: status["questions"])
        (question,) = told["status"]["questions"]
        assert word in question["choices"]
        assert visitor.act(word, question["id"], told)[0] == 200
        assert "result" in waiting.result(DEADLINE)
        heard.status("fake", lambda status: not status["questions"])
        asked = []
        for name in ("delete", "wipe"):
            waiting = client.start("tools/call", {"name": name, "arguments": {}})
            if name in later:
                told = heard.status("fake", lambda status: status["questions"])
                asked.append(told["status"]["questions"][0]["tool"])
                assert visitor.act("refuse", told["status"]["questions"][0]["id"], told)[0] == 200
            assert ("result" in waiting.result(DEADLINE)) == (name not in later)
        assert asked == later
    leave()


def test_folders_are_a_clients_for_a_session_at_most(
    gateway: RunningGateway, tmp_path: Path
) -> None:
    for name in ("show", "elsewhere"):
        (tmp_path / name).mkdir()
    roots = {"roots": [{"uri": (tmp_path / "elsewhere").as_uri()}]}

    def see(_workspace_roots: Any = None) -> list[str]:
        return [str(root.path) for root in _workspace_roots.roots]

    visitor = Visitor(gateway)
    with served(announce=True, roots=[str(tmp_path / "show")]) as host:
        host.tool("see", see, required_capabilities=("filesystem.read",))
        leave = host.app.controls.attend()
        client = gateway.client("fake", {"roots": {}}, {"roots/list": lambda params: roots})
        with visitor.listening() as heard, client:
            waiting = client.start("tools/call", {"name": "see", "arguments": {}})
            told = heard.status("fake", lambda status: status["questions"])
            (question,) = told["status"]["questions"]
            assert question["choices"] == ["allow", "allow_session", "refuse"]
            status, answer = visitor.act("allow_project", question["id"], told)
            assert (status, "isn't among the answers" in answer["detail"]) == (502, True)
            assert visitor.act("allow_session", question["id"], told)[0] == 200
            seen = waiting.result(DEADLINE)["result"]["structuredContent"]["result"]
            assert seen == [str(tmp_path / "elsewhere")]
        leave()


def test_a_page_that_is_open_is_nobody_who_could_be_asked(
    gateway: RunningGateway, host: Served
) -> None:
    host.tool("delete", lambda: "deleted", annotations=DELETES)
    host.app.controls.set_consent_policy("destructive", "ask")
    with Visitor(gateway).listening() as heard, gateway.client("fake") as client:
        heard.status("fake", lambda status: True)
        assert text_of(client.call("delete")) == "deleted"


def test_what_is_too_long_to_be_read_can_only_be_refused(
    gateway: RunningGateway, host: Served
) -> None:
    host.tool("delete", lambda code: "deleted", CODE, annotations=DELETES)
    leave = host.app.controls.attend()
    host.app.controls.set_consent_policy("destructive", "ask")
    visitor = Visitor(gateway)
    with visitor.listening() as heard, gateway.client("fake") as client:
        asked = {"name": "delete", "arguments": {"code": "x" * 200_001}}
        waiting = client.start("tools/call", asked)
        told = heard.status("fake", lambda status: status["questions"])
        (question,) = told["status"]["questions"]
        assert question["arguments"] is None
        status, answer = visitor.act("allow", question["id"], told)
        assert (status, "panel" in answer["detail"]) == (502, True)
        assert visitor.act("refuse", question["id"], told)[0] == 200
        assert waiting.result(DEADLINE)["error"]["code"] == -31003
    leave()


def test_nobody_but_the_artist_asks_an_instance_for_it(
    gateway: RunningGateway, host: Served
) -> None:
    of_another = artist_word("another")
    assert of_another is not None
    own = {"Authorization": f"Bearer {host.app.token}", "Content-Type": "application/json"}
    for headers in (own, {**own, ARTIST_HEADER: of_another}, {**own, ARTIST_HEADER: "guessed"}):
        for method, path, body in (
            ("GET", "/v1/artist/events", None),
            ("POST", "/v1/artist/act", b'{"do": "allow", "id": "x"}'),
        ):
            status, _, answer = request(host.app.url, method, path, headers, body)
            assert (status, b"callboard gateway --open" in answer) == (403, True)


def test_what_changed_is_undone(gateway: RunningGateway) -> None:
    with served(announce=True, skills=True) as host:
        visitor = Visitor(gateway)
        with visitor.listening() as heard, gateway.client("fake") as client:
            for name in ("one", "two"):
                made = client.call("scene__create_primitive", {"kind": "cube", "name": name})
                assert not made["isError"], made
            told = heard.status("fake", lambda status: len(status["changes"]) == 2)
            first = told["status"]["changes"][0]
            assert first["words"].startswith("created")
            assert visitor.act("undo", first["call"], told)[1]["undone"] == 2
            heard.status("fake", lambda status: all(one["undone"] for one in status["changes"]))
            assert host.on_main(host.host.scene.names) == []


@pytest.mark.parametrize(
    "told",
    [b"", b"no json", b"data: [1]\n\n", b"x" * 5_000_000, b"data: " + b'{"a":' * 100_000 + b"\n\n"],
    ids=range(5),
)
def test_an_instance_that_lies_hides_no_other(
    gateway: RunningGateway, host: Served, told: bytes
) -> None:
    with lying_host() as liar:
        liar.lie, liar.kind = told, "text/event-stream"
        with Visitor(gateway).listening() as heard:
            heard.status("fake", lambda status: True)
            heard.until("liar", lambda one: one["problem"] and one["status"] is None)
