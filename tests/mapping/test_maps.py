"""Maps that an agent runs on a real farm: their progress, their results, and how they end early."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.clients.book import ClientBook
from callboard.ports.capability_names import FARM
from callboard_testing.fake_client import FakeClient
from e2e.serving import callboard, environment
from mapping.mapped_skill import write_mapped
from needed import need, needs
from serving import served
from waiting import until

need("pxr")
need("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(os.name == "nt", reason="the farm is ended by a POSIX signal"),
]


class Agent:
    def __init__(self, client: FakeClient, work: Path) -> None:
        self._client, self._work = client, work

    def call(self, name: str, /, **given: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self._client.call(name, given)["structuredContent"]
        return answer

    def map(self, tool: str, numbers: range, **given: Any) -> str:
        """Start a map. Return its job's id."""
        rows = [{"n": n, "folder": str(self._work)} for n in numbers]
        handle = self.call("farm__map", **{"tool": tool, "host": "openusd", "rows": rows, **given})
        return str(handle["job_id"])

    def ended(self, run: str) -> dict[str, Any]:
        """Return the map's status once it has ended, however busy the machine is."""

        def status() -> dict[str, Any] | None:
            told = self.call("farm__status", run=run, wait_s=20)
            over = told["status"] not in ("preparing", "asking", "working")
            return told if over else None

        told = until(status, "the map's end", seconds=100)
        assert told is not None
        return told

    def waits(self, run: str) -> bool:
        return bool(self.call("farm__status", run=run)["status"] == "working")

    def held(self) -> list[int]:
        """Return the ids of the hosts' processes that are running an endless task."""
        return [int(one.read_text()) for one in self._work.glob("*.began")]

    def forget_held(self) -> None:
        for one in self._work.glob("*.began"):
            one.unlink()


@contextmanager
def farm(env: dict[str, str], skills: Path, *options: str) -> Iterator[str]:
    """Yield the farm's scheduler."""
    command = callboard("farm", "local", "-n", "2", "--skills", str(skills), *options)
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["scheduler"]
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in environment(tmp_path / "home").items():
        monkeypatch.setenv(name, value)
    return tmp_path / "home"


def settings(skills: Path, work: Path, scheduler: str) -> dict[str, Any]:
    return {
        "skills": True,
        "skill_paths": [str(skills)],
        "roots": [str(work)],
        "allow": [FARM],
        "farm_scheduler": scheduler,
        "farm_command": [sys.executable, "-m", "callboard"],
    }


def gone(pid: int) -> Callable[[], bool]:
    return lambda: not Path(f"/proc/{pid}").exists()


def test_an_agent_maps_reads_resumes_and_cancels(tmp_path: Path, home: Path) -> None:
    work, skills = tmp_path / "work", write_mapped(tmp_path)
    work.mkdir()
    with farm(environment(home), skills) as scheduler:
        with served(**settings(skills, work, scheduler)) as server, server.client() as client:
            agent = Agent(client, work)
            twenty(agent, work)
            asked_by(home)
            with FakeClient(server.app.url, ClientBook().make("bob")[1]) as bob:
                nobody_elses(bob)
                leaves_room(agent, Agent(bob, work))
            cancelled(agent)
            waits_for_a_host(agent)
            agent.map("maths__hold", range(40, 44))
            until(lambda: len(agent.held()) == 2, "the hosts' work", seconds=60)
            held = agent.held()
        # The server has ended, and so has the work of its agents.
        for pid in held:
            until(gone(pid), "the end of the process", seconds=60)


def twenty(agent: Agent, work: Path) -> None:
    id = agent.map("maths__square", range(20), run="squares")
    told = agent.ended(id)
    assert (told["run"], told["status"], told["tasks"]) == ("squares", "completed", 20)
    assert (told["done"], told["failed"], told["hosts"]) == (19, 1, 2)
    assert "bad luck" in told["first_errors"][0]["message"]
    results, offset = [], 0
    while offset is not None:
        page = agent.call("farm__results", run="squares", offset=offset, limit=8)
        results += page["results"]
        offset = page.get("next_offset")
    assert {one["index"]: one["result"] for one in results if one["status"] == "done"} == {
        n: {"square": n * n} for n in range(20) if n != 13
    }
    (failed,) = agent.call("farm__results", run=id, failed_only=True)["results"]
    assert failed["index"] == 13
    # A map with the same name runs only the tasks that aren't done yet.
    assert agent.ended(agent.map("maths__square", range(20), run="squares"))["done"] == 19
    assert len((work / "journal.txt").read_text().split()) == 21


def nobody_elses(bob: FakeClient) -> None:
    for tool in ("farm__status", "farm__results", "farm__cancel"):
        params = [{"name": tool, "arguments": {"run": run}} for run in ("squares", "never")]
        known, unknown = (bob.request("tools/call", each)["error"] for each in params)
        assert known == unknown


def leaves_room(one: Agent, other: Agent) -> None:
    # The farm has no such host, so these maps wait.
    waiting = [one.map("maths__square", range(1), host="blender") for _ in range(2)]
    until(lambda: all(one.waits(id) for id in waiting), "the maps", seconds=60)
    refused = one.call("jobs__status", job_id=one.map("maths__square", range(1)), wait_s=20)
    assert "2 of them yours" in refused["error"]["message"]
    assert other.ended(other.map("maths__square", range(4)))["done"] == 4
    for id in waiting:
        assert one.call("farm__cancel", run=id)["status"] == "cancelled"


def asked_by(home: Path) -> None:
    """Check that the hosts' records name the agent's client."""
    report = subprocess.run(
        callboard("report", "--json"), env=environment(home), capture_output=True, timeout=60
    )
    assert b'"fake"' in report.stdout, report.stdout


def cancelled(agent: Agent) -> None:
    id = agent.map("maths__hold", range(30, 34), run="held")
    until(lambda: len(agent.held()) == 2, "the hosts' work", seconds=60)
    hosts = agent.held()
    told = agent.call("farm__cancel", run="held")
    assert (told["status"], told["done"], told["job_id"]) == ("cancelled", 0, id)
    assert "run: 'held'" in told["message"]
    for pid in hosts:
        until(gone(pid), "the end of the process", seconds=60)
    agent.forget_held()
    assert agent.ended(agent.map("maths__square", range(4)))["done"] == 4


def waits_for_a_host(agent: Agent) -> None:
    id = agent.map("maths__square", range(1), host="blender")
    told = until(lambda: agent.call("farm__status", run=id).get("message"), "a message", seconds=60)
    assert "callboard farm worker --host blender" in told
    assert agent.call("farm__cancel", run=id)["status"] == "cancelled"


def certificates(folder: Path, name: str) -> list[str]:
    """Return a CA, a certificate and its key, with which a farm of several machines is
    protected."""
    folder.mkdir()
    files = [folder / f"{name}.{end}" for end in ("ca.pem", "pem", "key")]
    ca, certificate, key = map(str, files)
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    named = ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = [*make, *named, "-keyout", key, "-out", certificate]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    shutil.copyfile(certificate, ca)  # The certificate is self-signed.
    return [ca, certificate, key]


@needs("openssl")
def test_a_map_reaches_a_farm_that_asks_for_a_certificate_with_its_own_alone(
    tmp_path: Path, home: Path
) -> None:
    work, skills = tmp_path / "work", write_mapped(tmp_path)
    work.mkdir()
    ours, others = (certificates(tmp_path / name, name) for name in ("ours", "others"))
    names = ("--tls-ca", "--tls-cert", "--tls-key")
    guarded = [word for pair in zip(names, ours, strict=True) for word in pair]
    with farm(environment(home), skills, *guarded) as scheduler:
        assert scheduler.startswith("tls://")
        for files, status in ((ours, "completed"), (others, "failed"), (ours[:2], "failed")):
            with (
                served(**settings(skills, work, scheduler), farm_tls=files) as server,
                server.client() as client,
            ):
                agent = Agent(client, work)
                told = agent.ended(agent.map("maths__square", range(3)))
                assert told["status"] == status, told
                if len(files) == 2:
                    assert "three PEM files" in told["message"]
        for files, why in (
            (others, "of different authorities: give --tls-ca"),
            ([ours[0], *others[1:]], "of different authorities: give --tls-ca"),
            ([*ours[:2], others[2]], "don't belong together"),
        ):
            given = [word for pair in zip(names, files, strict=True) for word in pair]
            command = callboard("farm", "worker", "--scheduler", scheduler, *given)
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
            assert (done.returncode, why in done.stderr) == (1, True), done.stderr
    # With other certificates, or with some of the three missing, no task was run.
    assert len((work / "journal.txt").read_text().split()) == 3
