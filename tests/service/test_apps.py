"""MCP Apps over the wire. A client that declares the extension gets the page, and other clients
don't see it. The tool's answer is the same for both."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from callboard.content import Json
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE, FakeHost
from columns_host import ColumnsHost
from docs.blocks import PROJECT, blocks
from docs.shape import alike
from serving import Served, served
from skills.scripting_host import ScriptingHost
from stateless_client import Stateless
from waiting import until

APPS = "io.modelcontextprotocol/ui"
TYPE = "text/html;profile=mcp-app"
VIEW = "ui://callboard/viewport"
SHOWS: Json = {"extensions": {APPS: {"mimeTypes": [TYPE]}}}
SMALL = {"width": 64, "height": 32}
ERAS = pytest.mark.parametrize("era", ["sessions", "stateless"])

Ask = Callable[[str, Json], Json]


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served(ColumnsHost, skills=True) as running:
        running.app.tools.load_absent("viewport__look")
        with running.client() as client:
            for name in ("Ball", "Box"):
                client.call("scene__create_primitive", {"kind": "cube", "name": name})
        yield running


@contextmanager
def asking(server: Served, era: str, capabilities: Json) -> Iterator[tuple[Ask, Json]]:
    """Yield two things: a function that sends a request, and the server's reply to initialize or
    server/discover."""
    if era == "stateless":
        own = Stateless(server.client(), capabilities)
        yield lambda m, p: own.request(m, p), own.request("server/discover")["result"]
        return
    client = server.client(capabilities)
    introduced = client.initialize()["result"]
    client.notify("notifications/initialized")
    yield client.request, introduced
    client.close()


def tool(ask: Ask, name: str) -> Json:
    tools: list[Json] = []
    cursor: Json = {}
    while True:
        page = ask("tools/list", cursor)["result"]
        tools += page["tools"]
        if "nextCursor" not in page:
            return next(one for one in tools if one["name"] == name)
        cursor = {"cursor": page["nextCursor"]}


def uris(ask: Ask) -> set[str]:
    return {one["uri"] for one in ask("resources/list", {})["result"]["resources"]}


@ERAS
def test_who_shows_pages_gets_one(server: Served, era: str) -> None:
    with asking(server, era, SHOWS) as (ask, introduced):
        assert introduced["capabilities"]["extensions"][APPS] == {}
        assert tool(ask, "viewport__look")["_meta"]["ui"] == {"resourceUri": VIEW}
        assert "ui" not in tool(ask, "scene__undo").get("_meta", {})
        assert VIEW in uris(ask)
        (page,) = ask("resources/read", {"uri": VIEW})["result"]["contents"]
        assert (page["uri"], page["mimeType"]) == (VIEW, TYPE)
        csp = page["_meta"]["ui"]["csp"]
        assert sorted(csp) == [f"{of}Domains" for of in ("baseUri", "connect", "frame", "resource")]
        assert not any(csp.values())
        assert page["text"].startswith("<!doctype html>")
        assert not re.search(r"https?:|@import|url\(|src=|href=", page["text"])


@ERAS
@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"extensions": {}},
        {"extensions": {APPS: {}}},
        {"extensions": {APPS: None}},
        {"extensions": {APPS: {"mimeTypes": 5}}},
        {"extensions": {APPS: {"mimeTypes": ["text/html"]}}},
        {"extensions": {APPS: {"mimeTypes": {TYPE: {}}}}},
    ],
    ids=str,
)
def test_nobody_else_hears_of_it(server: Served, era: str, capabilities: Json) -> None:
    with asking(server, era, capabilities) as (ask, introduced):
        if era == "sessions":
            assert "extensions" not in introduced["capabilities"]
        assert "ui" not in tool(ask, "viewport__look").get("_meta", {})
        assert VIEW not in uris(ask)
        refused = ask("resources/read", {"uri": VIEW})
        missing = ask("resources/read", {"uri": VIEW + "s"})
        assert refused["error"]["code"] == missing["error"]["code"]


def test_rest_has_no_pages(server: Served) -> None:
    answer = server.client().send("GET", path="/v1/resources")
    assert answer.status == 200
    assert VIEW not in answer.body.decode()
    assert "host://waiting" in answer.body.decode()


@ERAS
def test_text_and_picture_are_there_for_everybody(server: Served, era: str) -> None:
    answers = []
    for capabilities in (SHOWS, {}):
        with asking(server, era, capabilities) as (ask, _):
            asked = {"name": "viewport__look", "arguments": SMALL}
            result = ask("tools/call", asked)["result"]
            assert [block["type"] for block in result["content"]] == ["text", "image"]
            told = json.loads(result["content"][0]["text"])
            assert told == result["structuredContent"]
            answers.append({**told, "id": ""})
    assert answers[0] == answers[1]


def test_a_host_without_pictures_has_no_page() -> None:
    with served(FakeHost, skills=True) as server, asking(server, "sessions", SHOWS) as (ask, told):
        assert "extensions" not in told["capabilities"]
        assert VIEW not in uris(ask)
        assert "ui" not in tool(ask, "viewport__look").get("_meta", {})


def test_a_point_of_the_picture_is_an_object(server: Served) -> None:
    with server.client() as client:
        left = client.call("viewport__pick", {"x": 0.2, "y": 0.5, **SMALL})
        right = client.call("viewport__pick", {"x": 0.8, "y": 0.5, **SMALL})
        nothing = client.call("viewport__pick", {"x": 0.8, "y": 1, **SMALL})
        outside = client.request("tools/call", {"name": "viewport__pick", "arguments": {"x": 2}})
    names = [one["structuredContent"]["path"] for one in (left, right, nothing)]
    assert [str(name).rpartition("/")[2] for name in names] == ["Ball", "Box", "None"]
    assert nothing["structuredContent"] == {"path": None, "point": None}
    assert "error" in outside or outside["result"]["isError"]


def test_a_host_that_cant_be_pointed_at_says_what_to_do_instead() -> None:
    class Blind(ColumnsHost):
        def __init__(self) -> None:
            super().__init__()
            port: Any = self.ports["look"]

            class Only:
                picture, own_view, boxes = port.picture, port.own_view, port.boxes

            self.set_ports({**self.ports, "look": Only()})

    with served(Blind, skills=True) as server, server.client() as client:
        result = client.call("viewport__pick", {"x": 0.5, "y": 0.5})
        assert result["isError"]
        assert "scene__list_objects" in result["content"][0]["text"]


def waiting(client: FakeClient) -> Json:
    read = client.request("resources/read", {"uri": "host://waiting"})["result"]
    told: Json = json.loads(read["contents"][0]["text"])
    return told


def test_a_client_reads_which_of_its_calls_wait_for_the_artist() -> None:
    with served(FakeHost) as server:
        server.tool("wipe", lambda: "wiped", annotations={"destructiveHint": True})
        controls = server.app.controls
        controls.attend()
        controls.set_consent_policy("destructive", "ask")
        other = FakeClient(server.app.url, server.app.clients.make("other")[1])
        with server.client() as client, other:
            assert waiting(client)["waiting"] == []
            call = client.start("tools/call", {"name": "wipe", "arguments": {}})
            until(lambda: waiting(client)["waiting"], "the call that waits")
            told = waiting(client)
            (one,) = told["waiting"]
            assert (one["tool"], one["why"]) == ("wipe", "deletes or replaces things")
            assert 0 <= one["seconds_left"] <= 120
            assert told["where"]
            assert waiting(other)["waiting"] == []
            (question,) = server.app.dispatcher.consent.questions
            controls.answer(question, "refuse")
            assert call.result(DEADLINE)["error"]["code"] == -31003
            until(lambda: not waiting(client)["waiting"], "no waiting calls")


def test_what_waits_is_told_as_the_page_of_apps_shows_it() -> None:
    (block,) = blocks("docs/apps.md")
    shown = json.loads(block.text)
    with served(ScriptingHost, skills=True) as server, server.client() as client:
        controls = server.app.controls
        controls.attend()
        tool = shown["waiting"][0]["tool"]
        until(lambda: "script.execute" in server.app.capabilities.declared, "scripts")
        call = client.start("tools/call", {"name": tool, "arguments": {"code": "pass"}})
        until(lambda: waiting(client)["waiting"], "the call that waits")
        told = waiting(client)
        (question,) = server.app.dispatcher.consent.questions
        controls.answer(question, "refuse")
        call.result(DEADLINE)
    assert alike(shown, told)
    assert shown["waiting"][0]["why"] == told["waiting"][0]["why"]
    blender = (PROJECT / "hosts" / "callboard_blender" / "host.py").read_text("utf-8")
    assert f'where = "{shown["where"]}"' in blender
