"""A record states who called which tool, and where. If records are required, no call goes
unrecorded."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.clients.book import ClientBook
from callboard.clients.kept_tokens import token_of
from callboard.errors import NOT_RECORDED
from callboard.ground.login_name import login_name
from callboard.records.model import CallRecord
from callboard.records.reader import Reader
from callboard.records.store import default_folder
from callboard.transport.machine import this_machine
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from serving import Served, served

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OTHER_TRACE = "00-11111111111111111111111111111111-2222222222222222-00"
READS = {"annotations": {"readOnlyHint": True}}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CALLBOARD_PROJECT", raising=False)
    return tmp_path / "home"


def recorded() -> list[CallRecord]:
    """Return the calls, the oldest first."""
    return list(Reader(default_folder()).recent().calls[::-1])


def open_scene(host: Served, scene: str) -> None:
    def opened() -> None:
        host.host.scene_path = scene
        host.host.announce("project")

    host.on_main(opened)


def test_a_record_names_the_person_the_place_and_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_PROJECT", "film")
    for variable in ("LOGNAME", "USER", "USERNAME"):
        monkeypatch.setenv(variable, "somebody-else")
    token = token_of("adas-agent", ClientBook())
    with served(records=True) as host:
        host.tool("say", lambda: {"said": "hello"})
        for scene in ("/shows/film/sh010.fake", "/shows/film/sh020.fake"):
            open_scene(host, scene)
            with FakeClient(host.app.url, token) as client:
                client.call("say")
    first, second = recorded()
    assert first.user == login_name() != "somebody-else"
    assert (first.machine, first.app) == (this_machine(), "Fake Host 1.0")
    assert (first.scene, second.scene) == ("/shows/film/sh010.fake", "/shows/film/sh020.fake")
    assert first.project == "film"
    assert (first.client, first.client_name) == ("adas-agent", "fake")
    assert first.session


@pytest.mark.parametrize("era", ["session", "rest"])
@pytest.mark.parametrize(
    ("header", "meta", "kept"),
    [(TRACE, None, TRACE), (TRACE, OTHER_TRACE, OTHER_TRACE), (f"{TRACE}'x", None, None)],
)
def test_the_trace_comes_by_header_or_in_the_request(
    era: str, header: str, meta: str | None, kept: str | None
) -> None:
    with served(records=True) as host, host.client() as client:
        host.tool("say", lambda: {"said": "hello"})
        client.headers["traceparent"] = header
        if era == "session":
            client.call("say", **({} if meta is None else {"_meta": {"traceparent": meta}}))
        else:
            client.send("POST", json.dumps({"tool": "say"}).encode(), path="/v1/call")
            kept = TRACE if header == TRACE else None
    (call,) = recorded()
    assert call.trace == kept


@pytest.fixture
def required() -> Iterator[Served]:
    with served(records="required") as host:
        yield host


def refused(client: FakeClient, tool: str, **arguments: Any) -> str:
    """Return the error message of a call that is refused because it can't be recorded."""
    error = client.request("tools/call", {"name": tool, "arguments": arguments})["error"]
    assert error["code"] == NOT_RECORDED
    return str(error["message"])


def test_a_change_is_recorded_before_it_begins(required: Served) -> None:
    """The records are read in the middle of the call, as they would be after a kill."""
    seen: list[CallRecord] = []
    begun, go_on = threading.Event(), threading.Event()

    def change(name: str) -> dict[str, str]:
        begun.set()
        go_on.wait(DEADLINE)
        return {"changed": name}

    required.tool("change", change, affinity="any")
    with required.client() as client:
        answer = client.start("tools/call", {"name": "change", "arguments": {"name": "sphere1"}})
        assert begun.wait(DEADLINE)
        seen += recorded()
        go_on.set()
        assert answer.result(DEADLINE)["result"]["structuredContent"] == {"changed": "sphere1"}
    (before,), (after,) = seen, recorded()
    assert (before.tool, before.outcome, before.arguments) == (
        "change",
        "unfinished",
        {"name": "sphere1"},
    )
    assert (after.call_id, after.outcome) == (before.call_id, "ok")


def test_a_call_that_cannot_be_recorded_is_refused_until_it_can(home: Path) -> None:
    home.mkdir()
    (home / "records").write_text("a file where the folder should be")
    ran: list[str] = []
    with served(records="required") as host, host.client() as client:
        host.tool("change", lambda: ran.append("change"))
        host.tool("look", lambda: ran.append("look"), **READS)
        for tool in ("change", "look"):
            assert f"{tool} wasn't run, because this site requires" in refused(client, tool)
        assert "no_such_tool wasn't run" in refused(client, "no_such_tool")
        assert ran == []
        (home / "records").unlink()
        client.call("change")
        client.call("look")
    assert ran == ["change", "look"]
    assert {"change", "look"} <= {call.tool for call in recorded() if call.outcome == "ok"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows doesn't cut files that are open")
def test_the_answer_of_a_change_whose_end_cannot_be_recorded_is_withheld(
    required: Served, home: Path
) -> None:
    def change() -> dict[str, str]:
        shutil.copytree(home / "records", home / "as it was")
        for path in (home / "records").glob("*.journal"):
            os.truncate(path, 0)
        (home / "records").rename(home / "gone")
        (home / "records").write_text("a file where the folder should be")
        return {"secret": "of the scene"}

    required.tool("change", change)
    with required.client() as client:
        message = refused(client, "change")
    assert "its answer is withheld" in message
    assert "of the scene" not in message
    (call,) = Reader(home / "as it was").recent().calls
    assert (call.tool, call.outcome) == ("change", "unfinished")


def test_where_records_are_not_required_the_answer_says_what_is_not_kept(home: Path) -> None:
    home.mkdir()
    (home / "records").write_text("a file where the folder should be")
    with served(records=True, announce=True) as host, host.client() as client:
        host.tool("say", lambda: {"said": "hello"})
        answer = client.call("say")
        assert answer["structuredContent"] == {"said": "hello"}
        assert "aren't recorded on disk" in answer["_meta"]["callboard/notKept"]
        health = json.loads(client.send("GET", path="/v1/healthz").body)
        (sentence,) = health["not_kept"]
        assert f"calls aren't recorded in {home / 'records'}" in sentence
        (home / "records").unlink()
        assert host.app.records is not None
        assert host.app.records.flush(DEADLINE) or host.app.records.flush(DEADLINE)
        assert "_meta" not in client.call("say")
    assert [call.tool for call in recorded()] == ["say", "say"]
