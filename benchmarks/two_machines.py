"""Two machines that share a home: checks that they leave each other alone, and that strangers never
receive a token.

    python benchmarks/two_machines.py [--seconds N] [--seed N]

Each machine is simulated by a separate network and host name (on Linux, as root). Hosts start and
crash on both, strangers listen on the hosts' former ports and on the other machine's current ones,
and `callboard list` and `call` run all the time. Prints the events, and exits with 1 if a record of
a running host was lost, a stranger was sent a token, or a call reached the wrong host. Needs the
extra `usd`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path.insert(0, str(TESTS))

from e2e.serving import Program, callboard, environment  # noqa: E402

NAMES = ("ws01", "ws02")
#: Maximum number of hosts on one machine.
MOST = 3
#: Listens on a port, and writes everything that it receives to a file.
STRANGER = """
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print('{"event": "ready"}', flush=True)
log = open(sys.argv[2], "ab", buffering=0)
while True:
    connection, _ = server.accept()
    connection.settimeout(0.5)
    try:
        log.write(connection.recv(65536) + b"\\n--\\n")
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\n{}")
        log.write(connection.recv(65536) + b"\\n--\\n")
    except OSError:
        pass
    connection.close()
"""


class Machine:
    """A network and a host name. Its programs share the home with the other machines' programs."""

    def __init__(self, name: str, home: Path, stack: ExitStack) -> None:
        self.name = name
        self.hosts: dict[str, tuple[Program, Path]] = {}
        self._home = home
        self._stack = stack
        begin = f"hostname {name} && ip link set lo up && echo there && exec sleep infinity"
        command = ["unshare", "--net", "--uts", "sh", "-c", begin]
        self._holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        stack.callback(self._end)
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != "there\n":
            raise SystemExit("a separate network can't be made; run this as root, on Linux")

    def _end(self) -> None:
        for host, _ in self.hosts.values():
            host.kill()
        self._holder.kill()
        self._holder.communicate()

    def within(self, *command: str) -> list[str]:
        return ["nsenter", "-t", str(self._holder.pid), "-n", "-u", *command]

    def start(self, scene: Path) -> str:
        """Start a host, and return its id."""
        before = set(self._records())
        command = self.within(*callboard("serve", "--scene", str(scene)))
        host = Program(command, environment(self._home)).__enter__()
        (id,) = set(self._records()) - before
        self.hosts[id] = host, scene
        return id

    def crash(self, id: str) -> int:
        """Kill a host, and return its former port."""
        host, _ = self.hosts.pop(id)
        host.kill()
        return urlsplit(host.url).port or 0

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = self.within(*callboard(*arguments))
        env = environment(self._home)
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)

    @contextmanager
    def stranger(self, port: int, log: Path) -> Iterator[None]:
        command = self.within(sys.executable, "-c", STRANGER, str(port), str(log))
        try:
            stranger = Program(command, os.environ).__enter__()
        except AssertionError:
            yield  # a host on this machine has that port
            return
        try:
            yield
        finally:
            stranger.kill()

    def _records(self) -> list[str]:
        return [path.stem for path in (self._home / "instances").glob("*.json")]


class Storm:
    def __init__(self, home: Path, stack: ExitStack, chance: random.Random) -> None:
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.log = home / "stranger.log"
        self._home = home
        self._chance = chance
        self._machines = [Machine(name, home / "home", stack) for name in NAMES]
        self._scenes = 0

    def step(self) -> None:
        here, there = self._chance.sample(self._machines, 2)
        if len(here.hosts) < MOST and self._chance.random() < 0.5:
            self._scenes += 1
            scene = self._home / f"s{self._scenes}.usda"
            scene.write_text("#usda 1.0\n", "utf-8")
            here.start(scene)
            self.done["started"] += 1
        elif here.hosts and self._chance.random() < 0.5:
            port = here.crash(self._chance.choice(list(here.hosts)))
            self.done["crashed"] += 1
            with here.stranger(port, self.log):
                self._list_and_call(here, there)
        elif there.hosts:
            host, _ = self._chance.choice(list(there.hosts.values()))
            with here.stranger(urlsplit(host.url).port or 0, self.log):
                self._list_and_call(here, there)
        else:
            self._list_and_call(here, there)
        self._check()

    def _list_and_call(self, here: Machine, there: Machine) -> None:
        listed = here.run("list", "--json")
        states = {row["id"]: row["state"] for row in json.loads(listed.stdout or "[]")}
        # A busy host is running, but answers late, as on a machine with a lot of other work.
        states = {id: "serving" if state == "busy" else state for id, state in states.items()}
        self.done["listed"] += 1
        expected = {
            **dict.fromkeys(here.hosts, "serving"),
            **dict.fromkeys(there.hosts, "elsewhere"),
        }
        if any(states.get(id) != state for id, state in expected.items()):
            self.wrong.append(f"{here.name} lists {states} instead of {expected}")
        for id, (_, scene) in here.hosts.items():
            self._call(here, id, scene)
        for id in there.hosts:
            self._call(here, id, None)

    def _call(self, machine: Machine, id: str, scene: Path | None) -> None:
        """Call a host. ``scene`` is the file that the host must report, or None if it must not
        answer."""
        done = machine.run("call", "scene__scene_info", "--instance", id)
        answer: Any = json.loads(done.stdout or "{}") if done.returncode == 0 else {}
        file = answer.get("structuredContent", answer).get("file")
        self.done["called" if scene else "refused"] += 1
        if file != (None if scene is None else str(scene)):
            self.wrong.append(f"{machine.name} {id}: {file}, not {scene}: {done.stderr[-300:]}")

    def _check(self) -> None:
        heard = self.log.read_bytes() if self.log.exists() else b""
        self.done["heard"] = heard.count(b"Callboard-Challenge")
        for machine in self._machines:
            for id, (host, _) in machine.hosts.items():
                if not (self._home / "home/instances" / f"{id}.json").exists():
                    self.wrong.append(f"the record of {id} on {machine.name} is lost")
                if host.token is not None and host.token.encode() in heard:
                    self.wrong.append(f"a stranger was sent the token of {id}")
        if b"Authorization" in heard or b"Bearer" in heard:
            self.wrong.append("a stranger was sent a token")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory()))
        storm = Storm(home, stack, random.Random(arguments.seed))
        until = monotonic() + arguments.seconds
        while monotonic() < until and not storm.wrong:
            storm.step()
    print(dict(storm.done))
    for each in storm.wrong[:10]:
        print(each)
    return 1 if storm.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
