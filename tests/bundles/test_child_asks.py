"""The questions that a bundle's own server may ask: about files, roots, and the calling client."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from server_bundles import Kid

from callboard.bundles.files.host_resources import CAPABILITY
from callboard.bundles.running import bundle_server, child_process
from callboard.clients.book import ClientBook
from callboard.workspace.containment import parse_root
from callboard_testing.fake_client import FakeClient
from serving import Served, text_of
from stateless_client import Stateless
from waiting import until

pytestmark = pytest.mark.slow

ERAS = pytest.mark.parametrize("era", ["session", "stateless"])
FORMS = {"elicitation": {"form": {}}}


def answer_of(result: dict[str, Any]) -> Any:
    return json.loads(text_of(result))


def named(params: dict[str, Any]) -> dict[str, Any]:
    return {"action": "accept", "content": {"name": params["message"]}}


def retried(client: Stateless, first: dict[str, Any], tool: str) -> dict[str, Any]:
    """Repeat a call that ended with a form, this time with an answer to the form."""
    assert first["resultType"] == "input_required"
    asked = first["inputRequests"].items()
    params = {
        "name": tool,
        "arguments": {},
        "inputResponses": {key: named(ask["params"]) for key, ask in asked},
        "requestState": first["requestState"],
    }
    result: dict[str, Any] = client.request("tools/call", params)["result"]
    return result


@ERAS
def test_it_reads_and_lists_files_of_the_workspace(kid: Kid, tmp_path: Path, era: str) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "notes.md").write_text("# hello")
    roots = [str(tmp_path / "project")]
    with kid(era, files=True, roots=roots) as running, running.client() as client:
        (note,) = answer_of(client.call("kid__files"))["resources"]
        assert (note["name"], note["mimeType"]) == ("notes.md", "text/markdown")
        (content,) = answer_of(client.call("kid__read", {"uri": note["uri"]}))["contents"]
        assert content["text"] == "# hello"
        unknown = answer_of(client.call("kid__read", {"uri": "files://fl_" + "0" * 24}))
        assert unknown["error"]["code"] == -32002
        scheme = answer_of(client.call("kid__read", {"uri": "http://a/b"}))
        assert scheme["error"]["code"] == -32602
        assert scheme["error"]["data"]["supported"] == ["files"]


def test_many_large_files_at_once_arrive_one_after_the_other(
    kid: Kid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This limit leaves room for only one file.
    monkeypatch.setattr(child_process, "MAX_WAITING", 20 * 2**20)
    (tmp_path / "project").mkdir()
    with (tmp_path / "project" / "cache.bin").open("wb") as file:
        file.truncate(10 * 2**20)
    roots = [str(tmp_path / "project")]
    with kid("session", files=True, roots=roots) as running, running.client() as client:
        (cache,) = answer_of(client.call("kid__files"))["resources"]
        arguments = {"uri": cache["uri"], "times": 8}
        assert answer_of(client.call("kid__read_many", arguments)) == [True] * 8


@ERAS
def test_the_files_are_those_of_the_client_behind_the_call(
    kid: Kid, tmp_path: Path, era: str
) -> None:
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(name)

    def of(running: Served, name: str) -> Any:
        answer = {"roots": [{"uri": (tmp_path / name).as_uri()}]}
        return running.client({"roots": {}}, {"roots/list": lambda params: answer})

    with kid(era, files=True) as running, of(running, "mine") as me, of(running, "theirs") as them:
        (mine,) = answer_of(me.call("kid__files"))["resources"]
        (theirs,) = answer_of(them.call("kid__files"))["resources"]
        assert (mine["name"], theirs["name"]) == ("mine.txt", "theirs.txt")
        foreign = answer_of(me.call("kid__read", {"uri": theirs["uri"]}))
        assert foreign["error"]["code"] == -32002
        assert answer_of(me.call("kid__roots"))["roots"][0]["uri"].endswith("/mine")


@ERAS
def test_what_the_artist_withdrew_is_not_handed_out(kid: Kid, tmp_path: Path, era: str) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "notes.md").write_text("# hello")
    config = {"roots": [str(tmp_path / "project")], "deny": ["filesystem.read"]}
    with kid(era, files="preferred", **config) as running, running.client() as client:
        assert "ai.nimblebrain/host-resources" not in answer_of(client.call("kid__offered")).get(
            "extensions", {}
        )
        assert answer_of(client.call("kid__files"))["error"]["code"] == -31003


@ERAS
def test_it_asks_the_person_behind_a_session(kid: Kid, era: str) -> None:
    with kid(era) as running, running.client(FORMS, {"elicitation/create": named}) as client:
        assert answer_of(client.call("kid__ask"))["content"] == {"name": "kid: Who?"}
        both = answer_of(client.call("kid__ask_twice"))
        assert [one["content"]["name"] for one in both] == ["kid: Who?", "kid: Sure?"]


@ERAS
def test_it_asks_the_person_behind_a_request_that_stands_alone(kid: Kid, era: str) -> None:
    with kid(era) as running:
        client = Stateless(running.client(), FORMS)
        first = client.call("kid__ask_twice")
        second = retried(client, first, "kid__ask_twice")
        both = answer_of(retried(client, second, "kid__ask_twice"))
        assert [one["content"]["name"] for one in both] == ["kid: Who?", "kid: Sure?"]


@ERAS
def test_what_it_asks_and_logs_hides_nothing(kid: Kid, era: str) -> None:
    asked: list[dict[str, Any]] = []

    def answer(params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params)
        return named(params)

    with kid(era) as running, running.client(FORMS, {"elicitation/create": answer}) as client:
        client.call("kid__ask", {"hidden": "\u202e"})
        client.call("kid__tell", {"hidden": "\u202e"})
        (logged,) = client.wait_for("notifications/message")
    assert asked[0]["message"] == "kid: Who⟨U+202E⟩?"
    assert asked[0]["requestedSchema"]["properties"]["name"]["title"] == "Name⟨U+202E⟩"
    assert logged["params"]["data"] == "mind the gap⟨U+202E⟩"


@ERAS
def test_a_client_that_cannot_be_asked_is_not(kid: Kid, era: str) -> None:
    with kid(era) as running, running.client() as client:
        result = client.call("kid__ask")
        assert "did not declare" in text_of(result)
        assert [m for m in client.received if m.get("method") == "elicitation/create"] == []


def test_a_question_that_could_be_anothers_is_put_to_nobody(kid: Kid) -> None:
    with (
        kid("session") as running,
        running.client(FORMS, {"elicitation/create": named}) as one,
        running.client(FORMS, {"elicitation/create": named}) as other,
    ):
        other.start("tools/call", {"name": "kid__hang", "arguments": {}}, id=5)
        # Once this call is registered, every later one reaches the bundle after it.
        until(lambda: running.app.dispatcher.calls, "the call")
        one.call("kid__echo", {"text": "b"})
        assert "several clients" in text_of(one.call("kid__ask"))
        assert "elicitation/create" not in [m.get("method") for m in other.received]
        other.notify("notifications/cancelled", {"requestId": 5})


def test_its_own_lines_are_only_for_whom_it_served(
    kid: Kid, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "callboard")
    tokens = [ClientBook().make(name)[1] for name in ("ada", "bob")]

    def log_of(client: FakeClient) -> str:
        read = client.request("resources/read", {"uri": "log://recent"})
        return str(read["result"]["contents"][0]["text"])

    def reads_both(client: FakeClient) -> bool:
        return all(f"<{name}> the plans" in log_of(client) for name in ("stderr", "stdout"))

    with (
        kid("session") as running,
        running.client() as local,
        FakeClient(running.app.url, tokens[0]) as ada,
        FakeClient(running.app.url, tokens[1]) as bob,
    ):
        ada.call("kid__grumble", {"text": "the plans"})
        until(lambda: reads_both(ada), "the client's own lines")
        assert "the plans" not in log_of(bob)
        # From now on, a line from the bundle may quote either client.
        bob.call("kid__echo", {"text": "b"})
        ada.call("kid__grumble", {"text": "the other plans"})
        until(lambda: "the other plans" in log_of(local), "the lines")
        assert "the other plans" not in log_of(ada) + log_of(bob)
        assert reads_both(ada)


def test_a_cancelled_calls_question_is_not_put_to_the_next_client(kid: Kid) -> None:
    with (
        kid("session") as running,
        running.client() as one,
        running.client(FORMS, {"elicitation/create": named}) as other,
    ):
        one.start("tools/call", {"name": "kid__hang", "arguments": {}}, id=5)
        until(lambda: running.app.dispatcher.calls, "the call")
        one.call("kid__echo", {"text": "b"})
        one.notify("notifications/cancelled", {"requestId": 5})
        assert text_of(one.call("kid__cancelled")) == "yes"
        # The server can't rule out that the question belongs to the cancelled call.
        assert "several clients" in text_of(other.call("kid__ask"))
        assert "elicitation/create" not in [m.get("method") for m in other.received]


def of_roots(running: Served, *uris: str, answers: Any = None, **offers: Any) -> Any:
    """Return a client with these roots."""
    listed = {"roots": [{"uri": uri, "name": f"root {n}"} for n, uri in enumerate(uris)]}
    return running.client(
        {"roots": {"listChanged": True}, **offers},
        {"roots/list": lambda params: listed, **(answers or {})},
    )


@ERAS
def test_it_is_told_only_folders_that_are_there(kid: Kid, tmp_path: Path, era: str) -> None:
    good = tmp_path / "a folder, grün"
    good.mkdir()
    hostile = [
        "http://example.com/project",
        f"file://{tmp_path}/%2e%2e/{tmp_path.name}/missing",
        f"file://{tmp_path}/gone",
        f"file://{tmp_path}/x/%2e%2e/a%20folder,%20gr%C3%BCn",
    ]
    with kid(era) as running, of_roots(running, *hostile) as client:
        assert answer_of(client.call("kid__roots"))["roots"] == [
            {"uri": good.as_uri().replace(",", "%2C"), "name": "root 3"}
        ]


def test_clients_of_different_roots_call_at_once_and_each_is_answered(
    kid: Kid, tmp_path: Path
) -> None:
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(name)
    with (
        kid("session", files=True) as running,
        of_roots(running, (tmp_path / "mine").as_uri()) as me,
        of_roots(running, (tmp_path / "theirs").as_uri()) as them,
    ):
        asked = [
            (name, client.start("tools/call", {"name": f"kid__{tool}", "arguments": {}}))
            for tool in ("files", "roots") * 4
            for name, client in (("mine", me), ("theirs", them))
        ]
        assert len(asked) == 16
        for name, answer in asked:
            result = answer.result(30)["result"]
            assert result["isError"] is False, text_of(result)
            written = text_of(result)
            assert f"{name}.txt" in written or f"/{name}" in written


def two_roots(tmp_path: Path) -> tuple[Path, Path, list[str], dict[str, Any]]:
    """Return two folders, the client's list of roots, and the client's answers, which are made from
    that list. At first, the list holds only the first folder. The test may change the list."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    uris = [first.as_uri()]
    return (
        first,
        second,
        uris,
        {"roots/list": lambda params: {"roots": [{"uri": uri} for uri in uris]}},
    )


def test_it_hears_that_the_roots_are_others(
    kid: Kid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Leave the bundle enough time to request the roots, even on a slow machine.
    monkeypatch.setattr(bundle_server, "ROOTS_PATIENCE", 60.0)
    first, second, uris, listed = two_roots(tmp_path)
    with (
        kid("session", "looks", roots=[str(tmp_path)]) as running,
        running.client({"roots": {"listChanged": True}}, listed) as client,
    ):
        before = text_of(client.call("kid__pid"))
        assert answer_of(client.call("kid__roots"))["roots"][0]["uri"] == first.as_uri()
        uris[:] = [second.as_uri()]
        client.notify("notifications/roots/list_changed")
        until(
            lambda: answer_of(client.call("kid__roots"))["roots"][0]["uri"] == second.as_uri(),
            "the new roots",
        )
        assert text_of(client.call("kid__pid")) == before
        assert answer_of(client.call("kid__heard")) == ["notifications/roots/list_changed"]
        with running.client() as nobody:
            assert answer_of(nobody.call("kid__heard")) == []
            running.app.guest.loop.call_soon_threadsafe(
                running.app.roots.set_artist, [parse_root(str(second))]
            )
            until(lambda: answer_of(nobody.call("kid__heard")), "the artist's new roots")


def test_no_call_gets_to_one_that_keeps_the_roots_of_before(
    kid: Kid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This time can be short, because the bundle never requests the roots again.
    monkeypatch.setattr(bundle_server, "ROOTS_PATIENCE", 0.05)
    first, second, uris, listed = two_roots(tmp_path)
    with (
        kid("session", "looks-once", roots=[str(tmp_path)]) as running,
        running.client({"roots": {"listChanged": True}}, listed) as client,
    ):
        before = text_of(client.call("kid__pid"))
        assert answer_of(client.call("kid__kept_roots"))["roots"][0]["uri"] == first.as_uri()
        uris[:] = [second.as_uri()]
        client.notify("notifications/roots/list_changed")
        until(lambda: text_of(client.call("kid__pid")) != before, "another process")
        calls = [
            client.start("tools/call", {"name": "kid__kept_roots", "arguments": {}})
            for _ in range(4)
        ]
        for call in calls:
            kept = answer_of(call.result(30)["result"])
            assert kept["roots"][0]["uri"] == second.as_uri()


@ERAS
def test_the_clients_own_files_reach_it(kid: Kid, tmp_path: Path, era: str) -> None:
    theirs = {"contents": [{"uri": "files://theirs", "mimeType": "text/plain", "text": "theirs"}]}

    def refuse(params: dict[str, Any]) -> dict[str, Any]:
        return theirs if params["uri"] == "files://theirs" else {"error": {"code": -32002}}

    offer = {"read": {"enabled": True}, "list": {"enabled": True}, "schemes": ["files"]}
    with (
        kid(era, files=True, roots=[str(tmp_path)]) as running,
        running.client(
            {"extensions": {CAPABILITY: offer}}, {"ai.nimblebrain/resources/read": refuse}
        ) as client,
    ):
        assert answer_of(client.call("kid__read", {"uri": "files://theirs"})) == theirs
        missing = answer_of(client.call("kid__read", {"uri": "files://other"}))
        assert missing["error"]["code"] == -32002


@ERAS
def test_one_that_needs_files_goes_and_comes_with_them(kid: Kid, tmp_path: Path, era: str) -> None:
    with kid(era, files=True, roots=[str(tmp_path)]) as running, running.client() as client:
        running.on_main(lambda: running.app.capabilities.withdraw("filesystem.read"))
        until(lambda: "kid__echo" not in running.app.tools, "the end of the bundle's tools")
        until(lambda: running.app.bundles.in_use()[0][0].missing, "the gate")
        ((bundle, why),) = running.app.bundles.in_use()
        assert bundle.missing == (CAPABILITY,)
        assert f"it requires {CAPABILITY}" in str(why)
        for word in ("held back", CAPABILITY, "restore filesystem.read"):
            unserved = client.request("tools/call", {"name": "kid__echo", "arguments": {}})
            assert word in unserved["error"]["message"]
        (failure,) = running.app.catalog.failures
        assert (failure.skill, failure.kind) == ("kid", "held")
        running.on_main(lambda: running.app.capabilities.restore("filesystem.read"))
        until(lambda: "kid__echo" in running.app.tools, "the return of the bundle's tools")
        assert CAPABILITY in answer_of(client.call("kid__offered"))["extensions"]
        assert running.app.bundles.in_use()[0][0].missing == ()
        assert running.app.catalog.failures == ()


def test_one_that_would_like_files_is_told_when_there_are_none(kid: Kid, tmp_path: Path) -> None:
    with (
        kid("session", files="preferred", roots=[str(tmp_path)]) as running,
        running.client() as client,
    ):
        before = text_of(client.call("kid__pid"))
        assert CAPABILITY in answer_of(client.call("kid__offered"))["extensions"]
        running.on_main(lambda: running.app.capabilities.withdraw("filesystem.read"))

        def opened_anew() -> bool:
            # The bundle's tools come and go with its server.
            answer = client.request("tools/call", {"name": "kid__pid", "arguments": {}})
            return "result" in answer and text_of(answer["result"]) != before

        until(opened_anew, "the server to be started again")
        assert CAPABILITY not in answer_of(client.call("kid__offered"))["extensions"]
