"""Forty requests, each fulfilled with tools alone, and checked in another process.

    python benchmarks/tasks/run.py [openusd | blender] [TASK …] [--list]

Every task gets its own server. The table shows the number of calls, the bytes of their answers, and
the seconds, not counting the server's start. A task for which the host has no capability is
skipped, with the capability's name.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT / "core"), str(PROJECT / "hosts"), str(Path(__file__).parent)]

import correction_tasks  # noqa: E402, F401
import creation_tasks  # noqa: E402, F401 - lists its tasks
import modelling_tasks  # noqa: E402, F401
import staging_tasks  # noqa: E402, F401
from agent import TASKS, Agent, Lacking, Task  # noqa: E402

from callboard_testing.fake_client import FakeClient  # noqa: E402

SUFFIXES = {"openusd": ".usda", "blender": ".blend"}


def environment(home: Path) -> dict[str, str]:
    roots = [str(PROJECT / name) for name in ("core", "hosts")]
    return {**os.environ, "CALLBOARD_HOME": str(home), "PYTHONPATH": os.pathsep.join(roots)}


def perform(task: Task, host: str, folder: Path, ready: dict[str, Any]) -> tuple[int, int, float]:
    """Return the calls, the bytes of their answers, and the seconds. Raises Lacking, and the task's
    own errors."""
    with FakeClient(ready["url"], ready["token"]) as client:
        began = perf_counter()
        agent = Agent(client, folder)
        work = task.work(agent)
        next(work)
        file = folder / f"scene{SUFFIXES[host]}"
        agent("scene__save_file", path=str(file))
        took = perf_counter() - began
    command = [sys.executable, str(Path(__file__).with_name("facts.py")), host, str(file)]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=120)
    with suppress(StopIteration):
        # Blender's module prints as well, so only the last line counts.
        work.send(json.loads(told.stdout.strip().splitlines()[-1]))
    return agent.calls, agent.answer_bytes, took


def served(task: Task, host: str) -> tuple[int, int, float]:
    with TemporaryDirectory(prefix="callboard-task-") as temporary:
        home, folder = Path(temporary, "home"), Path(temporary, "root").resolve()
        home.mkdir()
        folder.mkdir()
        command = [sys.executable, "-m", "callboard", "serve", "--host", host]
        server = subprocess.Popen(
            [*command, "--root", str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(home),
        )
        try:
            assert server.stdout is not None
            ready = json.loads(server.stdout.readline())
            return perform(task, host, folder, ready)
        finally:
            server.terminate()
            server.wait(30)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("host", nargs="?", choices=SUFFIXES, default="openusd")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="default: all tasks")
    parser.add_argument("--list", action="store_true", help="print the requests, and exit")
    asked = parser.parse_args()
    if unknown := [name for name in asked.tasks if name not in TASKS]:
        parser.error(f"no task {', '.join(unknown)}; --list names them")
    chosen = [TASKS[name] for name in asked.tasks or TASKS]
    if asked.list:
        for task in chosen:
            print(f"{task.name:20} {task.request}")
        return 0
    print(f"| {'task':20} | {asked.host:8} | calls |   bytes | seconds |")
    print(f"|{'-' * 22}|{'-' * 10}|------:|--------:|--------:|")
    done = failed = 0
    for task in chosen:
        figures = f"{'':5} | {'':7} | {'':7}"
        try:
            calls, size, seconds = served(task, asked.host)
        except Lacking as lacking:
            outcome = f"has no {lacking}"
        except Exception as error:
            failed += 1
            outcome = "FAILED"
            at = traceback.extract_tb(error.__traceback__)[-1]
            print(f"{task.name}: {at.line}: {type(error).__name__} {error}", file=sys.stderr)
        else:
            done += 1
            outcome, figures = "done", f"{calls:5} | {size:7,} | {seconds:7.2f}"
        print(f"| {task.name:20} | {outcome:8} | {figures} |", flush=True)
    print(f"\n{done} of {len(chosen)} done")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
