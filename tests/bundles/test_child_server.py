"""Bundles that bring their own servers, some of which misbehave."""

from __future__ import annotations

import json
import logging
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from server_bundles import CHILD, Kid, server_bundle

from callboard.bundles.installed.install_folders import user_bundles
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE
from e2e.serving import serve
from serving import served, text_of
from waiting import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="checks processes with POSIX signals"),
]


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # A zombie that init hasn't reaped yet is considered gone too.
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("era", ["session", "stateless"])
def test_its_tools_are_listed_and_called(kid: Kid, era: str) -> None:
    with kid(era) as running, running.client() as client:
        listed = client.request("tools/list")["result"]["tools"]
        names = [tool["name"] for tool in listed if tool["name"].startswith("kid__")]
        assert "kid__echo" in names
        assert "kid__helper" in names  # This tool is on the second page of the bundle's list.
        assert not {"kid__bad schema", "kid__none"} & set(names)
        result = client.call("kid__echo", {"text": "hé"})
        assert result["structuredContent"] == {"text": "hé"}
        assert result["content"] == [{"type": "text", "text": "hé"}]
        assert result["isError"] is False


@pytest.mark.parametrize("era", ["session", "stateless"])
def test_its_prompts_and_resources_are_served(kid: Kid, era: str) -> None:
    with kid(era) as running, running.client() as client:
        prompts = client.request("prompts/list")["result"]["prompts"]
        (brief,) = [prompt for prompt in prompts if prompt["name"] == "kid.brief"]
        assert [argument["name"] for argument in brief["arguments"]] == ["shot"]
        got = client.request("prompts/get", {"name": "kid.brief", "arguments": {"shot": "s01"}})
        assert got["result"]["messages"] == [
            {"role": "assistant", "content": {"type": "text", "text": "Light s01."}}
        ]
        hidden = {"name": "kid.brief", "arguments": {"shot": "s\u202e"}}
        got = client.request("prompts/get", hidden)
        assert got["result"]["messages"][0]["content"]["text"] == "Light s⟨U+202E⟩."
        wrong = client.request("prompts/get", {"name": "kid.brief"})
        assert "missing required argument: shot" in wrong["error"]["message"]
        listed = client.request("resources/list")["result"]["resources"]
        assert "demo://notes" in [resource["uri"] for resource in listed]
        templates = client.request("resources/templates/list")["result"]["resourceTemplates"]
        uris = [template["uriTemplate"] for template in templates]
        assert "demo://shots/{shot}" in uris
        assert uris.count("files://{id}") == 1
        for uri in ("demo://notes", "demo://shots/s%2001"):
            (content,) = client.request("resources/read", {"uri": uri})["result"]["contents"]
            assert (content["uri"], content["text"]) == (uri, f"of {uri}")
        user_bundles().uninstall("kid")
        running.app.bundles.keeper.refresh()
        until(lambda: running.app.resources.get("demo://notes") is None, "the end of the resource")
        gone = client.request("prompts/get", {"name": "kid.brief", "arguments": {"shot": "s"}})
        assert gone["error"]["code"] == -32602


def test_its_errors_are_errors_of_the_tool(kid: Kid) -> None:
    with kid() as running, running.client() as client:
        failed = client.call("kid__fail")
        assert failed["isError"] is True
        assert "it would not" in text_of(failed)
        odd = client.call("kid__odd")
        assert odd["isError"] is True
        assert "isn't a list of blocks" in text_of(odd)
        for block in (
            {"type": "text", "text": 5},
            {"type": "image", "mimeType": "image/png"},
            {"type": "resource", "resource": "a text"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": None}},
        ):
            odd = client.call("kid__odd", {"content": [block]})
            assert odd["isError"] is True
            assert f"a block of type '{block['type']}' that has no content" in text_of(odd)


def test_what_it_prints_and_says_twice_changes_nothing(kid: Kid) -> None:
    with kid() as running, running.client() as client:
        assert text_of(client.call("kid__noise", {"lines": 2000})) == "done"
        assert text_of(client.call("kid__duplicate")) == "first"
        assert text_of(client.call("kid__echo", {"text": "still here"})) == "still here"


def test_one_that_floods_holds_up_nobody(kid: Kid) -> None:
    with kid() as running, running.client() as client:
        flood = {"name": "kid__flood", "arguments": {"messages": 4000}}
        flooding = client.start("tools/call", flood)
        until(lambda: running.app.dispatcher.calls, "the call")
        for _ in range(50):
            assert client.request("ping")["result"] == {}
        assert not flooding.done()
        assert text_of(flooding.result(30)["result"]) == "done"


def test_progress_and_log_reach_the_client(kid: Kid) -> None:
    with kid() as running, running.client() as client:
        params = {"name": "kid__progress", "arguments": {}, "_meta": {"progressToken": "p"}}
        client.request("tools/call", params)
        steps = [m["params"] for m in client.wait_for("notifications/progress", 3)]
        assert [(s["progressToken"], s["progress"], s["message"]) for s in steps] == [
            ("p", 1, "step 1"),
            ("p", 2, "step 2"),
            ("p", 3, "step 3"),
        ]
        client.call("kid__tell")
        (message,) = client.wait_for("notifications/message")
        assert message["params"]["level"] == "warning"
        assert "mind the gap" in json.dumps(message["params"]["data"])


def test_cancel_reaches_it(kid: Kid) -> None:
    with kid() as running, running.client() as client:
        hanging = client.start("tools/call", {"name": "kid__hang", "arguments": {}}, id=77)
        until(lambda: running.app.dispatcher.calls, "the call")
        call = next(iter(running.app.dispatcher.calls.values()))
        until(lambda: call.state != "asking" and call.tool.name == "kid__hang", "the call to hang")
        client.call("kid__echo", {"text": "the first has been sent"})
        client.notify("notifications/cancelled", {"requestId": 77})
        assert text_of(client.call("kid__cancelled")) == "yes"
        with pytest.raises(AssertionError):
            hanging.result(DEADLINE)  # a cancelled request gets no answer


def test_one_that_hangs_runs_into_the_limit(kid: Kid) -> None:
    with kid(call_timeout=0.5) as running, running.client() as client:
        response = client.request("tools/call", {"name": "kid__hang", "arguments": {}})
        assert response["error"]["code"] == -31002
        running.app.dispatcher.default_timeout = DEADLINE
        assert text_of(client.call("kid__cancelled")) == "yes"


def test_one_that_dies_is_started_again(kid: Kid) -> None:
    with kid() as running, running.client() as client:
        before = text_of(client.call("kid__pid"))
        hanging = client.start("tools/call", {"name": "kid__hang", "arguments": {}})
        until(lambda: running.app.dispatcher.calls, "the call")
        client.call("kid__echo", {"text": "the first has been sent"})
        died = client.call("kid__die")
        assert died["isError"] is True
        assert "exit status 7" in text_of(died)
        assert hanging.result(10)["result"]["isError"] is True
        listed = client.request("tools/list")["result"]["tools"]
        assert "kid__echo" in [tool["name"] for tool in listed]
        after = text_of(client.call("kid__pid"))  # waits until the server is back
        assert after != before


def test_a_call_of_one_that_is_removed_is_not_told_to_come_back(kid: Kid) -> None:
    with kid() as running, running.client() as client:
        hanging = client.start("tools/call", {"name": "kid__hang", "arguments": {}})
        until(lambda: running.app.dispatcher.calls, "the call")
        client.call("kid__echo", {"text": "the first has been sent"})
        user_bundles().uninstall("kid")
        running.app.bundles.keeper.refresh()
        told = text_of(hanging.result(10)["result"])
        assert "was stopped during the call" in told
        assert "started anew" not in told
        assert "tools/list" in told


def test_it_is_killed_from_outside_and_comes_back(kid: Kid) -> None:
    with kid() as running, running.client() as client:
        pid = int(text_of(client.call("kid__pid")))
        os.kill(pid, signal.SIGKILL)
        until(lambda: gone(pid), "the end of the server")
        until(
            lambda: text_of(client.call("kid__pid")) not in ("", str(pid)),
            "another server in its place",
        )


@pytest.mark.parametrize("manner", ["", "stubborn"])
def test_nothing_is_left_when_the_host_stops(kid: Kid, manner: str) -> None:
    with kid("session", manner) as running, running.client() as client:
        pid = int(text_of(client.call("kid__pid")))
        helper = int(text_of(client.call("kid__helper")))
    until(lambda: gone(pid), "the end of the bundle's server")
    until(lambda: gone(helper), "the end of the server's helper")


def test_nothing_is_left_when_the_host_is_killed(home: Path, tmp_path: Path) -> None:
    server_bundle(tmp_path, "session")
    with serve(home, "--auth", "none") as host, FakeClient(host.url) as client:

        def started() -> str:
            response = client.request("tools/call", {"name": "kid__pid", "arguments": {}})
            return "" if "error" in response else text_of(response["result"])

        pid = int(until(started, "the bundle's tools"))
        host.kill()
    until(lambda: gone(pid), "the end of the bundle's server")


def test_tools_that_appear_later_are_served(kid: Kid) -> None:
    with kid() as running, running.client() as client:
        client.listen()
        client.call("kid__grow")
        until(lambda: "kid__grown" in running.app.tools, "the new tool")
        client.wait_for("notifications/tools/list_changed")


def test_the_search_finds_its_tools_while_it_is_there(kid: Kid) -> None:
    def hits(query: str) -> list[dict[str, Any]]:
        answer = client.call("skills__search", {"query": query})["structuredContent"]
        return [hit for hit in answer["hits"] if hit.get("bundle") == "kid"]

    with kid() as running, running.client() as client:
        assert hits("kid echo")[0] == {
            "kind": "tool",
            "name": "kid__echo",
            "bundle": "kid",
            "description": "Does echo.",
            "arguments": "",
            "loaded": True,
        }
        assert hits("grown") == []
        client.call("kid__grow")
        until(lambda: "kid__grown" in running.app.tools, "the new tool")
        assert [hit["name"] for hit in hits("grown")] == ["kid__grown"]
        user_bundles().uninstall("kid")
        running.app.bundles.keeper.refresh()
        until(lambda: "kid__echo" not in running.app.tools, "the end of the bundle's tools")
        assert hits("kid echo") == []


def test_a_pattern_of_its_cannot_hold_up_the_host(home: Path, tmp_path: Path) -> None:
    slow = {"type": "object", "properties": {"text": {"type": "string", "pattern": "^(a+)+$"}}}
    script = CHILD.read_text().replace("OBJECT: dict[str, Any] = ", f"OBJECT: Any = {slow!r} or ")
    server_bundle(tmp_path, "session", script=script)
    with served(skills=True) as running, running.client() as client:
        until(lambda: "kid__echo" in running.app.tools, "the bundle's tools")
        listed = client.request("tools/list")["result"]["tools"]
        [schema] = [tool["inputSchema"] for tool in listed if tool["name"] == "kid__echo"]
        assert schema == slow
        text = "a" * 60 + "!"
        assert text_of(client.call("kid__echo", {"text": text})) == text


@pytest.mark.parametrize("manner", ["dead", "large", "long list"])
def test_a_version_whose_server_does_not_start_is_taken_back(
    home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, manner: str
) -> None:
    caplog.set_level(logging.WARNING)
    server_bundle(tmp_path, "session")
    with served(skills=True) as running:
        until(lambda: not user_bundles().installed()[0].pending, "the first version's confirmation")
        server_bundle(tmp_path, "session", manner, version="2.0.0")
        until(
            lambda: user_bundles().installed()[0].manifest.version == "1.0.0",
            "the first version to be back",
        )
        with running.client() as client:
            until(lambda: "kid__echo" in running.app.tools, "the bundle's tools")
            assert text_of(client.call("kid__echo", {"text": "back"})) == "back"
    assert "1.0.0 is in use again" in caplog.text


def test_its_calls_pass_the_gate_and_are_recorded(kid: Kid) -> None:
    with kid(records=True) as running, running.client() as client:
        client.call("kid__echo", {"text": "noted"})
        running.on_main(running.app.controls.pause)
        until(lambda: running.app.dispatcher.paused, "the pause")
        refused = client.request("tools/call", {"name": "kid__echo", "arguments": {"text": "no"}})
        assert refused["error"]["code"] == -31004
        assert running.app.records is not None
        assert running.app.records.flush()
        recent = running.app.records.reader().recent().calls
        noted = [(call.tool, call.outcome) for call in recent]
    assert sorted(noted) == [("kid__echo", "ok"), ("kid__echo", "paused")]
