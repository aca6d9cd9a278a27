"""The cost of a farm: the time per task, with one worker and with two, and the client's memory.

Runs 200, 2,000 and 20,000 tiny calls over frames on OpenUSD hosts on this machine, then longer
calls on one host and on two. Needs the extras ``farm`` and ``usd``.

``--scale`` measures the figures in docs/scale.md instead: the cost of each task for the scheduler
and the client, with two hosts and with many stand-ins. Stand-ins are Dask workers in one process
that answer at once, and claim to have worked for the requested time. The bytes on the wire include
everything that is sent over this machine's loopback interface. To keep other traffic off it, use
``unshare -rn sh -c 'ip link set lo up; python benchmarks/farm.py --scale'``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import NamedTuple

import psutil

from callboard.content import Json
from callboard.mapping.task_sources import tasks_over
from callboard.mapping.tasks import TaskResult
from callboard_programs.farm.dask_hosts import DaskHosts
from callboard_programs.farm.orders import Work, perform_by
from callboard_programs.farm.report_file import ReportFile
from callboard_programs.farm.runner import Attempt, results
from callboard_programs.farm.security import security_of

SKILL = """---
name: bench
description: Takes a while.
metadata:
  dcc-mcp:
    tools: tools.yaml
---
"""
TOOLS = """
tools:
  - name: work
    description: Takes so many milliseconds, of the processor's where it isn't asleep.
    source_file: scripts/work.py
    read_only_hint: true
    input_schema:
      type: object
      properties: {milliseconds: {type: number}, asleep: {type: boolean}, frame: {}}
"""
SCRIPT = """
import time


def main(milliseconds: float = 0.0, asleep: bool = False, frame: object = None) -> dict:
    if asleep:
        time.sleep(milliseconds / 1000)
        return {"frame": frame}
    end = time.process_time() + milliseconds / 1000
    while time.process_time() < end:
        pass
    return {"frame": frame}
"""


#: Seconds over which an idle scheduler is measured.
IDLE = 10.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=[200, 2_000, 20_000])
    parser.add_argument("--long", type=int, default=200, help="number of calls of 50 ms")
    parser.add_argument("--scale", action="store_true", help="measure the figures of docs/scale.md")
    parser.add_argument("--stand-ins", type=int, nargs="+", default=[2, 50, 200])
    parser.add_argument("--stand-in-at", metavar="ADDRESS", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.stand_in_at:
        asyncio.run(stand_in(arguments.stand_in_at, arguments.stand_ins[0]))
        return 0
    with TemporaryDirectory() as folder:
        os.environ["CALLBOARD_HOME"] = str(Path(folder) / "home")
        skills = Path(folder) / "skills"
        (skills / "bench" / "scripts").mkdir(parents=True)
        (skills / "bench" / "SKILL.md").write_text(SKILL)
        (skills / "bench" / "tools.yaml").write_text(TOOLS)
        (skills / "bench" / "scripts" / "work.py").write_text(SCRIPT)
        print(f"{os.cpu_count()} processors")
        if arguments.scale:
            scale(skills, arguments.counts[1:], arguments.stand_ins)
            return 0
        each = []
        with farm(skills, 1) as (scheduler, _):
            run(scheduler, 50, 0.0)  # the first tasks import modules
            for count in arguments.counts:
                before = processor_times()
                each.append(run(scheduler, count, 0.0) / count)
                after = processor_times()
                used = [
                    f"{1000 * (late - early) / count:.2f}"
                    for early, late in zip(before, after, strict=True)
                ]
                held = psutil.Process().memory_info().rss / 2**20
                print(
                    f"{count:6} tiny tasks: {each[-1] * 1000:6.2f} ms each; processor time: client "
                    f"{used[0]} ms, the others {used[1]} ms; the client holds {held:.0f} MiB",
                    flush=True,
                )
            one, one_asleep = longer(scheduler, arguments.long)
        with farm(skills, 2) as (scheduler, _):
            run(scheduler, 50, 0.0)
            two, two_asleep = longer(scheduler, arguments.long)
    for what, alone, both in (("busy", one, two), ("asleep", one_asleep, two_asleep)):
        print(
            f"{arguments.long} tasks of 50 ms, {what}: {alone:.1f} s on one host, {both:.1f} s on "
            f"two, {alone / both:.2f} times as fast"
        )
    flat = max(each) <= 1.2 * min(each)
    return 0 if flat and max(each) < 0.005 and one / two >= 1.7 else 1


@contextmanager
def farm(skills: Path, hosts: int) -> Iterator[tuple[str, Json]]:
    """Yield a farm's scheduler, and its ready line."""
    command = [sys.executable, "-m", "callboard", "farm", "local", "-n", str(hosts)]
    with subprocess.Popen([*command, "--skills", str(skills)], stdout=subprocess.PIPE) as local:
        assert local.stdout is not None
        ready = json.loads(local.stdout.readline())
        try:
            yield ready["scheduler"], ready
        finally:
            local.terminate()


def processor_times() -> tuple[float, float]:
    """Return the processor seconds of this process, and of the processes that it started."""

    def used(process: psutil.Process) -> float:
        times = process.cpu_times()
        return float(times.user + times.system)

    this = psutil.Process()
    return used(this), sum(map(used, this.children(recursive=True)))


def longer(scheduler: str, count: int) -> tuple[float, float]:
    """Return the seconds taken by tasks that keep a processor busy, and by tasks that don't."""
    return run(scheduler, count, 50.0), run(scheduler, count, 50.0, asleep=True)


def run(
    scheduler: str, count: int, milliseconds: float, *, asleep: bool = False, host: str = "openusd"
) -> float:
    """Return the seconds taken by all tasks together."""
    given = {"milliseconds": milliseconds, "asleep": asleep, "frame": "{frame}"}
    work = Work("bench__work", given, [], needs={f"host:{host}": 1.0})
    began = perf_counter()
    with DaskHosts(scheduler, security_of(None), work.needs) as hosts:
        attempts = (Attempt(one, work.order(one, one.key)) for one in tasks_over([f"1-{count}"]))
        done = sum(result.status == "done" for result in results(hosts, attempts))
    took = perf_counter() - began
    if done != count:
        sys.exit(f"{count - done} of {count} tasks failed")
    return took


class Used(NamedTuple):
    """The processor seconds used so far, the bytes of memory in use, and the bytes sent so far."""

    scheduler: float
    client: float
    scheduler_holds: int
    client_holds: int
    wire: int


def used_by(scheduler: int) -> Used:
    """Return the figures so far for the scheduler's process and for this one."""
    there, here = psutil.Process(scheduler), psutil.Process()
    (used, held), (own, own_held) = [
        (sum(process.cpu_times()[:2]), process.memory_info().rss) for process in (there, here)
    ]
    sent = psutil.net_io_counters(pernic=True)["lo"].bytes_sent
    return Used(used, own, held, own_held, sent)


class Peak:
    """The maximum number of bytes that a process held during the block. A context manager."""

    def __init__(self, pid: int) -> None:
        self._process, self._over = psutil.Process(pid), threading.Event()

    def __enter__(self) -> Peak:
        self.bytes = self._process.memory_info().rss
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            self.bytes = max(self.bytes, self._process.memory_info().rss)


def scale(skills: Path, counts: list[int], stand_ins: list[int]) -> None:
    """Print a line for each measurement."""
    with farm(skills, 2) as (scheduler, ready):
        run(scheduler, 500, 0.0)
        for count in counts:
            tell("2 OpenUSD hosts, tiny tasks", scheduler, ready["pid"], count, 0.0, "openusd")
    for number in stand_ins:
        with farm(skills, 0) as (scheduler, ready), many(ready["scheduler"], number):
            pid = ready["pid"]
            before = used_by(pid)
            sleep(IDLE)
            after = used_by(pid)
            print(
                f"{number} stand-ins, idle: the scheduler uses "
                f"{100 * (after.scheduler - before.scheduler) / IDLE:.1f} % of a processor, "
                f"{(after.wire - before.wire) / IDLE / 1000:.1f} kB/s on the wire; it holds "
                f"{after.scheduler_holds / 2**20:.0f} MiB",
                flush=True,
            )
            run(scheduler, 500, 0.0, host="stand-in")
            for what, milliseconds in (("tiny tasks", 0.0), ("simulated 5 s tasks", 5000.0)):
                name = f"{number} stand-ins, {what}"
                tell(name, scheduler, pid, counts[-1] // 4, milliseconds, "stand-in")
    without_a_farm(10 * counts[-1])


def tell(what: str, scheduler: str, pid: int, count: int, milliseconds: float, host: str) -> None:
    before = used_by(pid)
    with Peak(pid) as peak:
        took = run(scheduler, count, milliseconds, host=host)
    after = used_by(pid)
    each = [1000 * (after[part] - before[part]) / count for part in (0, 1)]
    grown = [(after[part] - before[part]) / 2**20 for part in (2, 3)]
    print(
        f"{what}, {count}: {count / took:.0f}/s; processor time of each: scheduler {each[0]:.2f} "
        f"ms, client {each[1]:.2f} ms; {(after.wire - before.wire) / count:.0f} bytes on the wire; "
        f"more held at the end: scheduler {grown[0]:.1f} MiB (at most "
        f"{(peak.bytes - before.scheduler_holds) / 2**20:.1f}), client {grown[1]:.1f} MiB",
        flush=True,
    )


@contextmanager
def many(scheduler: str, count: int) -> Iterator[None]:
    """Run ``count`` stand-ins during the block."""
    command = [sys.executable, __file__, "--stand-in-at", scheduler, "--stand-ins", str(count)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as workers:
        assert workers.stdout is not None
        workers.stdout.readline()
        yield
        workers.kill()


async def stand_in(scheduler: str, count: int) -> None:
    """Run ``count`` workers until stdin ends."""
    from distributed import Worker

    def answered(order: Json) -> Json:
        given = order["arguments"]
        value, seconds = {"frame": given["frame"]}, given["milliseconds"] / 1000
        return {"status": "done", "value": value, "worker": "stand-in", "seconds": seconds}

    perform_by(answered)
    security_of(None)
    with TemporaryDirectory() as folder, ThreadPoolExecutor(1) as thread:
        workers = [
            Worker(
                scheduler,
                nthreads=1,
                name=f"stand-in-{number}",
                host="127.0.0.1",
                executor=thread,
                resources={"host:stand-in": 1.0},
                memory_limit=0,
                dashboard=False,
                dashboard_address="127.0.0.1:0",
                local_directory=folder,
            )
            for number in range(count)
        ]
        await asyncio.gather(*workers)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)


def without_a_farm(count: int) -> None:
    """Print the client's own costs for ``count`` tasks, and for reading the report on them."""
    held, began = psutil.Process().memory_info().rss, perf_counter()
    tasks = tasks_over([f"1-{count}"])
    took = perf_counter() - began
    grown = (psutil.Process().memory_info().rss - held) / count
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.jsonl"
        report = ReportFile(path, {"tool": "bench__work"})
        report.open([])
        for task in tasks:
            report.add(TaskResult(task.index, "", "done", {"frame": 1}, 1, "", task.key))
        report.close({"event": "finished"})
        size = path.stat().st_size / count
        with Peak(os.getpid()) as peak:
            began, before = perf_counter(), peak.bytes
            kept = len(ReportFile(path, {"tool": "bench__work"}).kept(tasks))
            read = perf_counter() - began
    print(
        f"{kept} tasks on their own: {1e6 * took / count:.1f} us and {grown:.0f} bytes each to "
        f"create; in a report {size:.0f} bytes each, {1e6 * read / count:.1f} us and at most "
        f"{(peak.bytes - before) / count:.0f} bytes each to read back"
    )


if __name__ == "__main__":
    sys.exit(main())
