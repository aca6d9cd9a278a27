"""A storm for the gateway: every change must be made once, and in the right scene.

    python benchmarks/gateway_storm.py [--seconds N] [--changes N] [--hosts N] [--pause N]
        [--calm N]

Hosts and the gateway are killed, suspended and restarted in random order. Each host has its own
scene, and three clients that keep using the host's name: one in a session, one without sessions,
and one with `tools__call`. The host that makes a change records it in a file. Prints the answers
that the clients got, and exits with 1 if a change was made in another scene, twice, or never
although it was confirmed. Needs the extra `usd`.
"""

from __future__ import annotations

import argparse
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path.insert(0, str(TESTS))

from callboard_testing.fake_client import FakeClient  # noqa: E402
from e2e.serving import Program, callboard, environment  # noqa: E402

WAYS = ("session", "stateless", "tools__call")
#: Error messages which state that nothing was changed, or that the outcome isn't known.
TRUE_ERRORS = (
    "not that scene",
    "host offline",
    "the call did not begin",
    "did not begin: nothing was changed",
    "it may have changed something",
    "went away during this call",
    "this session",
)
#: Seconds after the storm within which the hosts must be reachable again.
RETURN = 120.0
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "stateless", "version": "1"},
}
SKILL = {
    "SKILL.md": """---
name: storm
description: Writes down what it changed.
metadata: {dcc-mcp: {dcc: openusd, version: "1.0.0", tools: tools.yaml}}
---
""",
    "tools.yaml": """tools:
  - name: change
    description: Changes something.
    source_file: scripts/change.py
    required_capabilities: [scene.read]
    annotations: {destructiveHint: false}
    input_schema: {type: object, required: [change], properties: {change: {type: string}}}
""",
    "scripts/change.py": """import os


def change(change: str, ctx):
    file = ctx.port("scene.read").info()["file"]
    with open(os.environ["STORM_JOURNAL"], "a") as journal:
        journal.write(f"{change} {file}\\n")
    return {"change": change, "file": file}
""",
}


class Life:
    """A program that is killed, suspended and restarted."""

    def __init__(self, command: list[str], env: dict[str, str], chance: random.Random) -> None:
        self._program = Program(command, env)
        self._chance = chance
        self.start()

    @property
    def url(self) -> str:
        return self._program.url

    @property
    def token(self) -> str | None:
        return self._program.token

    @property
    def pid(self) -> int:
        return self._program.process.pid

    def start(self) -> None:
        until = monotonic() + RETURN
        while True:
            try:
                self._program.__enter__()
                return
            except queue.Empty:  # not ready in time, because the machine is busy
                self._program.kill()
                if monotonic() > until:
                    raise

    def end(self) -> str:
        """Kill the program, or ask it to end. Return "killed" or "ended"."""
        if self._chance.random() < 0.5:
            self._program.kill()
            return "killed"
        self.stop()
        return "ended"

    def halt(self) -> None:
        self._program.process.send_signal(signal.SIGSTOP)
        sleep(self._chance.uniform(0.1, 2.0))
        self._program.process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        try:
            self._program.__exit__(None, None, None)
        except subprocess.TimeoutExpired:
            self._program.kill()


class Worker:
    """One client, which keeps using the name of one scene."""

    def __init__(self, url: str, token: str | None, name: str, scene: Path, way: str) -> None:
        self.answers: Counter[str] = Counter()
        self.wrong: list[str] = []
        #: The changes that were requested, and those that were confirmed.
        self.asked: set[str] = set()
        self.confirmed: set[str] = set()
        self.scene = scene
        self._name, self._way = name, way
        self._url = url if way == "tools__call" else f"{url}/{name}"
        self._token = token
        self._client: FakeClient | None = None

    def work(self, over: threading.Event, pause: float) -> None:
        while not over.wait(pause):
            self.change()

    def change(self) -> bool:
        """Make a change. Return whether it was confirmed."""
        change = f"{self._name}-{self._way}-{len(self.asked)}"
        self.asked.add(change)
        try:
            answer = self._answered(change)
        except (AssertionError, OSError) as error:
            # No answer came because the gateway is down. The client opens a new session, with the
            # same name.
            self._leave()
            self.answers[f"none ({type(error).__name__})"] += 1
            return False
        result = answer.get("result", {})
        if "error" in answer or result.get("isError"):
            text = str(answer)
            kind = next((each for each in TRUE_ERRORS if each in text), None)
            if kind is None:
                self.wrong.append(f"{change}: {text[:300]}")
            if kind == "this session":
                self._leave()
            self.answers[kind or "wrong"] += 1
            return False
        told = result["structuredContent"]
        if told != {"change": change, "file": str(self.scene)}:
            self.wrong.append(f"{change} in {self.scene.name} was answered with {told}")
        self.confirmed.add(change)
        self.answers["right"] += 1
        return True

    def _answered(self, change: str) -> dict[str, Any]:
        name, arguments = "storm__change", {"change": change}
        if self._way == "stateless":
            message = {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"_meta": META, "name": name, "arguments": arguments},
            }
            headers: dict[str, str | None] = {
                "MCP-Protocol-Version": "2026-07-28",
                "Mcp-Method": "tools/call",
                "Mcp-Name": name,
            }
            answer: dict[str, Any] = (
                FakeClient(self._url, self._token).post(message, headers).message
            )
            return answer
        if self._client is None:
            client = FakeClient(self._url, self._token)
            client.initialize()
            client.notify("notifications/initialized")
            self._client = client
        if self._way == "tools__call":
            arguments = {"instance": self._name, "tool": name, "arguments": arguments}
            name = "tools__call"
        return self._client.request("tools/call", {"name": name, "arguments": arguments})

    def returns(self) -> bool:
        """Return whether a change to the client's scene succeeds again in time."""
        until = monotonic() + RETURN
        while monotonic() < until:
            if self.change():
                return True
            sleep(0.3)
        return False

    def _leave(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None


class Storm:
    def __init__(self, home: Path, hosts: int, stack: ExitStack, chance: random.Random) -> None:
        self.suffered: Counter[str] = Counter()
        self.journal = home / "journal"
        self._chance = chance
        for name, text in SKILL.items():
            path = home / "skills/storm" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        env = {**environment(home / "home"), "STORM_JOURNAL": str(self.journal)}
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.gateway = Life(callboard("gateway", "--port", str(port)), env, chance)
        stack.callback(self.gateway.stop)
        self.hosts = []
        for number in range(hosts):
            scene = home / f"s{number:02}.usda"
            scene.write_text("#usda 1.0\n", "utf-8")
            skills = str(home / "skills")
            command = callboard("serve", "--skills", skills, "--scene", str(scene))
            self.hosts.append(Life(command, env, chance))
            stack.callback(self.hosts[-1].stop)
        self.workers = [
            Worker(self.gateway.url, self.gateway.token, name, Path(scene), way)
            for name, scene in self._named().items()
            for way in WAYS
        ]

    def _named(self) -> dict[str, str]:
        """Return each host's scene by the host's name, once the gateway lists all hosts."""
        with FakeClient(self.gateway.url, self.gateway.token) as client:
            while True:
                rows = client.call("instances__list")["structuredContent"]["instances"]
                if len(rows) == len(self.hosts):
                    return {row["name"]: row["scene"] for row in rows}
                sleep(0.1)

    def blow(self) -> None:
        """Kill or stop the gateway, a host, or several programs at once, or briefly suspend one."""
        what = self._chance.choice(["gateway", "host", "halt", "many"])
        if what == "halt":
            self._chance.choice([self.gateway, *self.hosts]).halt()
        else:
            count = {"gateway": 0, "host": 1}.get(what, self._chance.randint(2, len(self.hosts)))
            gone = self._chance.sample(self.hosts, count)
            if what != "host":
                gone.append(self.gateway)
            for each in gone:
                each.end()
            self._chance.shuffle(gone)
            for each in gone:
                sleep(self._chance.uniform(0.0, 0.5))
                each.start()
        self.suffered[what] += 1

    def judged(self) -> Counter[str]:
        """Return the number of changes and the number of faults of each kind, according to the
        hosts' records."""
        verdict: Counter[str] = Counter()
        scenes = {change: str(each.scene) for each in self.workers for change in each.asked}
        made: Counter[str] = Counter()
        for line in self.journal.read_text("utf-8").splitlines():
            change, _, file = line.partition(" ")
            made[change] += 1
            verdict["in another scene"] += scenes[change] != file
        verdict["doubled"] = sum(count > 1 for count in made.values())
        verdict["lost"] = sum(c not in made for each in self.workers for c in each.confirmed)
        verdict["confirmed"] = sum(len(each.confirmed) for each in self.workers)
        verdict["asked"] = len(scenes)
        return verdict


@contextmanager
def working(workers: list[Worker], pause: float) -> Iterator[None]:
    over = threading.Event()
    threads = [threading.Thread(target=worker.work, args=(over, pause)) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def memory(pid: int) -> float:
    """Return the memory of a process in MiB."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between a client's calls")
    parser.add_argument("--calm", type=float, default=0.5, help="seconds between disruptions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hosts", type=int, default=3)
    parser.add_argument("--changes", type=int, default=0, help="stop after this many confirmations")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory()))
        storm = Storm(home, arguments.hosts, stack, random.Random(arguments.seed))
        workers = storm.workers

        def enough() -> bool:
            return sum(len(each.confirmed) for each in workers) >= arguments.changes

        with working(workers, arguments.pause):
            until = monotonic() + arguments.seconds
            while monotonic() < until or not enough():
                sleep(arguments.calm)
                storm.blow()
        back = [worker.returns() for worker in workers]
        print(f"memory of the gateway: {memory(storm.gateway.pid):.1f} MiB")
        verdict = storm.judged()
    wrong = [each for worker in workers for each in worker.wrong]
    answers: Counter[str] = sum((worker.answers for worker in workers), Counter())
    print(f"disruptions: {dict(storm.suffered)}; answers: {dict(answers)}")
    print(f"changes: {dict(verdict)}; back: {sum(back)} of {len(back)}")
    for each in wrong[:10]:
        print(each)
    bad = verdict["in another scene"] + verdict["doubled"] + verdict["lost"]
    return 1 if wrong or bad or not all(back) else 0


if __name__ == "__main__":
    sys.exit(main())
