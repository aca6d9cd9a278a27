"""Whether every call through the gateway is answered once and truly while hosts are killed, halted
and started again on other ports.

    python benchmarks/gateway_storm.py [--seconds N] [--pause N] [--seed N]

Eight clients work in two hosts, each with a scene of its own. Prints what they were answered, and
ends with 1 where an answer belonged to another call or another host, or none came. Needs the extra
`usd`.
"""

from __future__ import annotations

import argparse
import random
import signal
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
from e2e.serving import Program, callboard, environment, serve  # noqa: E402

CLIENTS = 8
#: How every true error begins or what it holds.
TRUE_ERRORS = ("host offline", "went away during this call", "the call did not begin")
#: Seconds that the last calls have until the hosts must be back.
RETURN = 60.0


class StormyHost:
    """One host with its scene, over its lives."""

    def __init__(self, home: Path, name: str, chance: random.Random) -> None:
        self.name = name
        self.scene = home / f"{name}.usda"
        self.scene.write_text("#usda 1.0\n", "utf-8")
        self._home = home
        self._chance = chance
        self.start()

    def start(self) -> None:
        self._program: Program = serve(self._home, "--scene", str(self.scene)).__enter__()

    def suffer(self) -> str:
        """Something happens to it; what."""
        what = self._chance.choice(["killed", "ended", "halted"])
        if what == "halted":
            self._program.process.send_signal(signal.SIGSTOP)
            sleep(self._chance.uniform(0.1, 3.0))
            self._program.process.send_signal(signal.SIGCONT)
            return what
        if what == "killed":
            self._program.kill()
        else:
            self.stop()
        sleep(self._chance.uniform(0.0, 1.0))
        self.start()
        return what

    def stop(self) -> None:
        self._program.__exit__(None, None, None)


class Worker:
    """One client in one host."""

    def __init__(self, gateway: Program, host: StormyHost, number: int) -> None:
        self.answers: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._host = host
        self._number = number
        self._client = FakeClient(f"{gateway.url}/{host.name}", gateway.token)
        self._client.initialize()
        self._client.notify("notifications/initialized")
        self._client.listen()

    def work(self, over: threading.Event, pause: float) -> None:
        count = 0
        while not over.wait(pause):
            count += 1
            self.answers[self.call(count)] += 1

    def call(self, count: int) -> str:
        """How it was answered."""
        region = f"{self._number}-{count}"
        try:
            if count % 5:
                result = self._client.call("probe__route", {"region": region})
                expected: Any = {"region": region}
            else:
                result = self._client.call("scene__scene_info")
                expected = str(self._host.scene)
        except (AssertionError, OSError) as error:
            self.wrong.append(repr(error)[:300])
            return "wrong"
        text = str(result["content"])
        if result["isError"]:
            kind = next((error for error in TRUE_ERRORS if error in text), None)
            if kind is None:
                self.wrong.append(text[:300])
            return kind or "wrong"
        structured = result["structuredContent"]
        if expected != (structured if count % 5 else structured["file"]):
            self.wrong.append(f"{expected} was answered with {structured}")
            return "wrong"
        return "right"

    def returns(self) -> bool:
        """Whether its host is there again, in time."""
        until = monotonic() + RETURN
        while monotonic() < until:
            if self.call(1) == "right":
                return True
            sleep(0.2)
        return False

    def close(self) -> None:
        self._client.close()


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


def memory(program: Program) -> float:
    """MiB."""
    status = Path(f"/proc/{program.process.pid}/status").read_text("utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two calls of one")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    suffered: Counter[str] = Counter()
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory()))
        command = callboard("gateway", "--port", "0")
        gateway = stack.enter_context(Program(command, environment(home)))
        hosts = [StormyHost(home, name, chance) for name in ("openusd", "openusd_2")]
        for host in hosts:
            stack.callback(host.stop)
        workers = [Worker(gateway, hosts[n % len(hosts)], n) for n in range(CLIENTS)]
        before = memory(gateway)
        with working(workers, arguments.pause):
            until = monotonic() + arguments.seconds
            while monotonic() < until:
                suffered[chance.choice(hosts).suffer()] += 1
        back = [worker.returns() for worker in workers]
        after = memory(gateway)
        for worker in workers:
            worker.close()
    wrong = [each for worker in workers for each in worker.wrong]
    answers: Counter[str] = sum((worker.answers for worker in workers), Counter())
    print(f"hosts: {dict(suffered)}; answers: {dict(answers)}")
    print(f"memory: {before:.1f} to {after:.1f} MiB; back: {sum(back)} of {len(back)}")
    for each in wrong[:10]:
        print(each)
    return 1 if wrong or not all(back) else 0


if __name__ == "__main__":
    sys.exit(main())
