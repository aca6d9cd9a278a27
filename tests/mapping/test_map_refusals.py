"""If ``farm__map`` isn't allowed or can't run, nothing is started, and the answer explains what to
do."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.ports.capability_names import FARM
from callboard_testing.fake_client import FakeClient
from clients.panel_artist import Artist
from mapping.mapped_skill import write_mapped
from serving import Served, served
from waiting import until

#: Nothing listens on that address, and no farm is started.
FARM_SETTINGS: dict[str, Any] = {
    "farm_scheduler": "tcp://127.0.0.1:9",
    "farm_command": ["no such command"],
    "farm_limit": 5,
}
ROWS = [{"n": 1, "folder": "."}]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    (tmp_path / "work").mkdir()
    return {
        **FARM_SETTINGS,
        "skills": True,
        "skill_paths": [str(write_mapped(tmp_path))],
        "roots": [str(tmp_path / "work")],
    }


@pytest.fixture
def server(settings: dict[str, Any]) -> Iterator[Served]:
    with served(allow=[FARM], **settings) as running:
        yield running


@pytest.fixture
def client(server: Served) -> Iterator[FakeClient]:
    with server.client() as one:
        yield one


def mapped(client: FakeClient, **given: Any) -> dict[str, Any]:
    """Return the answer of ``farm__status`` once the map has ended."""
    handle = client.call("farm__map", {"tool": "maths__square", "host": "openusd", **given})
    asked = {"run": handle["structuredContent"]["job_id"], "wait_s": 30}
    status: dict[str, Any] = client.call("farm__status", asked)["structuredContent"]
    return status


def refusal(client: FakeClient, **given: Any) -> str:
    status = mapped(client, **given)
    assert status["status"] == "failed", status
    return str(status["message"])


def test_without_a_scheduler_its_call_says_who_names_one(settings: dict[str, Any]) -> None:
    with served(**{**settings, "farm_scheduler": ""}) as server, server.client() as client:
        tools = client.request("tools/list")["result"]["tools"]
        assert not [tool for tool in tools if tool["name"].startswith("farm__")]
        answer = client.request("tools/call", {"name": "farm__map", "arguments": {}})
        assert "CALLBOARD_FARM_SCHEDULER" in answer["error"]["message"]


def test_unattended_it_is_offered_only_where_that_is_allowed(settings: dict[str, Any]) -> None:
    with served(**settings) as server, server.client() as client:
        tools = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}
        assert "--allow farm.run" in tools["farm__map"]["description"]
        answer = client.request(
            "tools/call", {"name": "farm__map", "arguments": {"tool": "maths__square"}}
        )
        assert answer["error"]["data"]["missing"] == [FARM]


#: The arguments, and the part of the answer that explains what to do.
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"rows": ROWS * 6}, "CALLBOARD_FARM_LIMIT"),
    ({"frames": "1-9999999999999"}, "CALLBOARD_FARM_LIMIT"),
    ({"frames": "one"}, "1-100x5"),
    ({"rows": ROWS, "frames": "1"}, "give exactly one of"),
    ({}, "give exactly one of"),
    ({"rows": ROWS, "save": True}, "give files"),
    ({"rows": [*ROWS, {"n": "1", "folder": "."}]}, "task 1: invalid arguments"),
    ({"rows": [{"n": 1, "folder": "workspace://../.."}]}, "task 0"),
    ({"rows": ROWS, "tool": "maths__code"}, "map that tool"),
    ({"rows": ROWS, "tool": "jobs__status"}, "isn't a skill's tool"),
    ({"rows": ROWS, "tool": "maths__sqare"}, "maths__square"),
    ({"rows": ROWS}, "CALLBOARD_FARM_COMMAND"),
    ({"files": ["nothing.usda"]}, "nothing.usda"),
    ({"table": "work.txt"}, ".jsonl or .csv"),
]


def test_what_can_not_be_mapped_is_told(client: FakeClient) -> None:
    for given, why in REFUSED:
        assert why in refusal(client, **given), given


def test_files_outside_the_workspace_are_refused_however_they_are_named(
    client: FakeClient, tmp_path: Path
) -> None:
    scene = tmp_path / "scene.usda"
    scene.write_text("#usda 1.0\n")
    arguments = {"n": 1, "folder": "."}
    ways: list[dict[str, Any]] = [
        {"files": [str(scene)], "arguments": arguments},
        {"files": ["workspace://../scene.usda"], "arguments": arguments},
        {"table": str(tmp_path / "rows.csv")},
        {"rows": [{"n": 1, "folder": str(tmp_path)}]},
        {"frames": "1", "arguments": {"n": "{frame}", "folder": str(tmp_path)}},
    ]
    if os.name != "nt":  # Making a link on Windows needs a special privilege.
        (tmp_path / "work" / "link.usda").symlink_to(scene)
        ways.append({"files": ["*.usda"], "arguments": arguments})
    for way in ways:
        assert "workspace" in refusal(client, **way), way


def test_a_person_sees_what_will_run_and_may_refuse(server: Served, client: FakeClient) -> None:
    artist = Artist(server)
    rows = [{"n": n, "folder": "."} for n in range(5)]
    call = client.in_thread(lambda: mapped(client, rows=rows, run="squares"))
    question = until(lambda: artist.seen.questions, "a question")[0]
    assert question.subject == "farm"
    assert "maths__square 5 times" in question.why
    assert FARM_SETTINGS["farm_scheduler"] in question.why
    assert json.loads(json.dumps(question.arguments))["last"]["n"] == 4
    artist.controls.answer(question.id, "refuse")
    status = call.result(30)
    assert status["status"] == "failed"
    assert "the artist refused it" in status["message"]
    missing = client.request("tools/call", {"name": "farm__results", "arguments": {"run": "no"}})
    assert "farm__map" in json.dumps(missing)


def test_what_the_artist_took_back_is_not_to_be_had_by_the_farm(
    server: Served, client: FakeClient
) -> None:
    server.app.capabilities.withdraw("scene.read")
    assert "scene.read" in refusal(client, tool="scene__list_objects", rows=[{}])


def test_a_destructive_tool_is_refused_where_the_settings_say_so(
    server: Served, client: FakeClient
) -> None:
    server.app.controls.set_consent_policy("destructive", "refuse")
    until(lambda: server.app.dispatcher.consent.policies["destructive"] == "refuse", "the policy")
    assert "settings" in refusal(client, tool="scene__delete", rows=[{"names": ["Cube"]}])
