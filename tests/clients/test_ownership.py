"""Runs, jobs, tasks and log lines belong to the session or the token that made them.

For anyone else, their ids don't exist.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from callboard.clients.book import ClientBook
from callboard.clients.holder import ANYONE, LOCAL, TokenHolder
from callboard.clients.owner import Owner, may_see, owns
from callboard.jobs.jobs import TASKS
from callboard_testing.fake_client import FakeClient
from serving import Served, served
from skills.skill_tree import write_skill
from stateless_client import Stateless
from waiting import until

Ask = Callable[[str], Any]
TASK_CLIENT = {"extensions": {TASKS: {}}, "elicitation": {"form": {}}}
NEVER_GIVEN = "x" * 24
WORKFLOW = "name: w\nsteps:\n  - {id: ok, approve: May it go on?}\n"
TOOLS = "tools:\n- {name: nothing, description: Does nothing., affinity: any}\n"


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClientBook:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    return ClientBook()


@pytest.fixture
def server(book: ClientBook, tmp_path: Path) -> Iterator[Served]:
    write_skill(
        tmp_path / "skills",
        "s",
        block="tools: tools.yaml\nworkflows: '*.workflow.yaml'",
        files={
            "tools.yaml": TOOLS,
            "w.workflow.yaml": WORKFLOW,
            "scripts/nothing.py": "def main():\n    return {}\n",
        },
    )
    with served(skills=True, skill_paths=[tmp_path / "skills"], records=True) as running:
        yield running


class Client:
    """One token holder's connections, of every kind."""

    def __init__(self, server: Served, token: str, stack: ExitStack) -> None:
        self._server, self._token = server, token
        self.raw = FakeClient(server.app.url, token)
        self.stateless = Stateless(FakeClient(server.app.url, token), TASK_CLIENT)
        # The client is asked whether the run may go on, and never answers.
        silent = FakeClient(server.app.url, token, capabilities={"elicitation": {}})
        self.session = stack.enter_context(silent)
        self.other_session = stack.enter_context(FakeClient(server.app.url, token))

    def asks(self) -> dict[str, Ask]:
        """Return, by name, a function for each request that takes an id. The function returns the
        answer without the id, which some answers repeat."""
        asks: dict[str, Ask] = {}
        for way in ("session", "other_session", "stateless"):
            client = getattr(self, way)
            for tool, name in (
                ("jobs__status", "job_id"),
                ("jobs__cancel", "job_id"),
                ("workflows__status", "run_id"),
                ("workflows__cancel", "run_id"),
            ):
                asks[f"{way} {tool}"] = _asking(client, "tools/call", tool, name)
            asks[f"{way} job://"] = _reading(client)
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            asks[method] = _tasks(self.stateless.raw, method)
        for verb, path in (("GET", ""), ("DELETE", ""), ("GET", "/events")):
            asks[f"{verb} /v1/jobs{path}"] = self._rest(verb, path)
        return asks

    def _rest(self, verb: str, path: str) -> Ask:
        def ask(id: str) -> Any:
            answer = self.raw.send(verb, path=f"/v1/jobs/{id}{path}")
            return answer.status, answer.body.replace(id.encode(), b"ID")

        return ask


def _without(answer: dict[str, Any], id: str) -> str:
    result = answer.get("result")
    if isinstance(result, dict):
        result.get("_meta", {}).pop("callboard/call", None)
    return json.dumps({**answer, "id": 0}).replace(id, "ID")


def _asking(client: Any, method: str, tool: str, name: str) -> Ask:
    return lambda id: _without(client.request(method, {"name": tool, "arguments": {name: id}}), id)


def _reading(client: Any) -> Ask:
    def ask(id: str) -> Any:
        raw = getattr(client, "raw", client)
        uri = f"job://{id}/result"
        if raw is client:
            return _without(client.request("resources/read", {"uri": uri}), id)
        return _without(raw.post(*client.message("resources/read", {"uri": uri})).message, id)

    return ask


def _tasks(raw: FakeClient, method: str) -> Ask:
    def ask(id: str) -> Any:
        params = {"taskId": id, "inputResponses": {"ok": {"action": "accept", "content": {}}}}
        answer = raw.post(*Stateless(raw, TASK_CLIENT).message(method, params))
        return answer.status, _without(answer.message, id)

    return ask


def _begun(client: Any) -> str:
    params = {"name": "workflows__run", "arguments": {"name": "s.w"}}
    result = client.request("tools/call", params)["result"]
    return str(result.get("taskId") or result["structuredContent"]["job_id"])


def _status(server: Served, id: str) -> str:
    return server.app.jobs.get(id, Owner(LOCAL)).status


@pytest.mark.parametrize("era", ["session", "stateless"])
def test_nobody_else_sees_answers_or_cancels_a_run(
    server: Served, book: ClientBook, era: str
) -> None:
    with ExitStack() as stack:
        ada, bob = (Client(server, book.make(name)[1], stack) for name in ("ada", "bob"))
        run = _begun(getattr(ada, era))
        asking = "working" if era == "session" else "input_required"
        until(lambda: _status(server, run) == asking, "the question")
        for name, ask in bob.asks().items():
            assert ask(run) == ask(NEVER_GIVEN), name
        if era == "session":
            for name, ask in ada.asks().items():
                if not name.startswith("session"):
                    assert ask(run) == ask(NEVER_GIVEN), name
        for thief in (bob.session, bob.stateless, ada.other_session):
            listed = thief.call("workflows__status")["structuredContent"]["runs"]
            assert bool(listed) == (era == "stateless" and thief is ada.other_session)
        assert _status(server, run) == asking
        own = getattr(ada, era).call("workflows__status")["structuredContent"]["runs"]
        assert [each["run_id"] for each in own] == [run]
        local = server.client()
        with local:
            everybodys = local.call("workflows__status")["structuredContent"]["runs"]
            assert [each["run_id"] for each in everybodys] == [run]
        assert server.client().send("GET", path=f"/v1/jobs/{run}").status == 200
        cancelled = getattr(ada, era).call("workflows__cancel", {"run_id": run})
        assert cancelled["structuredContent"]["status"] != "running"


def test_what_a_session_left_is_its_tokens_and_nobody_elses(
    server: Served, book: ClientBook
) -> None:
    with ExitStack() as stack:
        ada, bob = (Client(server, book.make(name)[1], stack) for name in ("ada", "bob"))
        run = _begun(ada.session)
        made = ada.session.call("scene__create_primitive", {"kind": "cube", "name": "One"})
        assert not made["isError"], made
        until(lambda: _status(server, run) == "working", "the question")
        for name, ask in ada.asks().items():
            if not name.startswith("session"):
                assert ask(run) == ask(NEVER_GIVEN), name
        for other in (ada.other_session, ada.stateless):
            assert other.call("workflows__status")["structuredContent"]["runs"] == []
            undone = other.call("scene__undo")
            assert "no call of yours changed anything" in undone["content"][0]["text"]
        assert _status(server, run) == "working"
        ada.session.send("DELETE")
        until(lambda: _status(server, run) == "failed", "the question's end")
        assert not ada.other_session.call("scene__undo")["isError"]
        assert not ada.stateless.call("jobs__status", {"job_id": run})["isError"]
        for name, ask in bob.asks().items():
            assert ask(run) == ask(NEVER_GIVEN), name


def test_logs_and_reports_hold_a_clients_own_rows(server: Served, book: ClientBook) -> None:
    def fail(text: str) -> None:
        raise RuntimeError(text)

    server.tool("fail", fail)
    with ExitStack() as stack:
        ada, bob = (Client(server, book.make(name)[1], stack) for name in ("ada", "bob"))
        ada.session.call("fail", {"text": "of her session"})
        ada.stateless.call("fail", {"text": "of her token"})

        def told(client: Any) -> str:
            read = client.request("resources/read", {"uri": "log://recent"})
            return str(read["result"]["contents"][0]["text"])

        assert "of her session" in told(ada.session)
        assert "of her token" in told(ada.session)
        assert "of her session" not in told(ada.other_session)
        assert "of her session" not in told(bob.session)
        assert "of her token" not in told(bob.session)

        def failures(client: FakeClient) -> list[str]:
            answer = client.send("GET", path="/v1/report")
            assert answer.status == 200, answer.body
            return [row["message"] for row in json.loads(answer.body)["topErrors"]]

        def read(client: Any, since: str = "7d") -> Any:
            answer = client.request("resources/read", {"uri": f"report://{since}"})
            if "error" in answer:
                return answer["error"]["message"]
            report = json.loads(answer["result"]["contents"][0]["text"])
            return [row["message"] for row in report["topErrors"]]

        assert len(failures(ada.raw)) == 2
        assert failures(bob.raw) == []
        for era in ("session", "stateless"):
            assert read(getattr(ada, era)) == failures(ada.raw)
            assert read(getattr(bob, era)) == []
            assert "'soon' is not a period" in read(getattr(bob, era), "soon")
        assert failures(server.client()) == failures(ada.raw)


def test_the_rule() -> None:
    ada, bob = TokenHolder("ada", "1"), TokenHolder("bob", "2")
    session = Owner(ada, "s")
    assert owns(session, session)
    assert owns(Owner(ada), session)
    for stranger in (Owner(ada), Owner(ada, "t"), Owner(bob, "s"), Owner(bob), Owner(ANYONE)):
        assert not owns(session, stranger)
        assert not may_see(session, stranger)
    assert may_see(session, Owner(LOCAL))
    assert not owns(session, Owner(LOCAL))
    session.ended = True
    assert owns(session, Owner(ada, "t"))
    assert not owns(session, Owner(bob, "s"))
