"""``callboard farm session``: runs the steps of an exported job on a render manager's machine."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path

from callboard.content import Json
from callboard.errors import PeerError
from callboard.ground.atomic_write import replacing_bytes
from callboard.ground.plain_text import plain
from callboard.headless.number_arguments import repetitions
from callboard.mapping.tasks import TaskResult
from callboard_programs.cli.task_lines import ended, tell
from callboard_programs.farm.flamenco import ORDERS, host_of
from callboard_programs.farm.hosts_here import HostsHere
from callboard_programs.farm.runner import Attempt, results
from callboard_programs.farm.session_host import enter, leave, order_of, perform, task_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    for name, text in (
        ("enter", "start the session's host; then options of `callboard serve`"),
        ("task", "perform one task of a bundle"),
        ("leave", "end the session's host"),
    ):
        step = steps.add_parser(name, help=text)
        step.add_argument("folder", metavar="FOLDER", type=Path, help="the session's folder")
        if name == "enter":
            step.add_argument(
                "options", nargs=argparse.REMAINDER, help="options of `callboard serve`"
            )
        if name == "task":
            step.add_argument("orders", metavar="ORDERS", type=Path, help="the job's task file")
            step.add_argument("index", metavar="INDEX", type=int, help="the task's number")
            step.add_argument(
                "--results", metavar="DIR", type=Path, required=True, help="the folder for results"
            )
    chunk = steps.add_parser("chunk", help="perform some calls of Flamenco's job on one host")
    chunk.add_argument("folder", metavar="FOLDER", type=Path, help="the job's folder")
    chunk.add_argument("first", metavar="FIRST", type=repetitions, help="the first task's number")
    chunk.add_argument("last", metavar="LAST", type=repetitions, help="the last task's number")


def run(arguments: argparse.Namespace) -> int:
    """Run one step. For a task, print the result as a line of JSON, and the progress for the
    manager."""

    def work() -> int:
        if arguments.step == "task":
            return _task(arguments)
        if arguments.step == "chunk":
            return _chunk(arguments)
        if arguments.step == "enter":
            enter(arguments.folder, arguments.options)
        else:
            leave(arguments.folder)
        return 0

    return ended(work)


def _task(arguments: argparse.Namespace) -> int:
    # Treat a manager's cancellation like Ctrl+C: the host is notified, and undoes the task's
    # changes.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    order = order_of(arguments.orders, arguments.index)
    result = perform(arguments.folder, order, _show)
    _keep(result, arguments.results)
    if result.status == "failed":
        why, _, _ = result.value["message"].partition("\nTraceback (")
        print(f"openjd_fail: {_one_line(why)}", flush=True)
    return int(result.status == "failed")


def _chunk(arguments: argparse.Namespace) -> int:
    folder: Path = arguments.folder
    indices = range(arguments.first, arguments.last + 1)
    orders = [order_of(folder / ORDERS, index) for index in indices]
    if not orders:
        raise PeerError(
            f"there are no calls from {indices.start} to {arguments.last}; "
            "LAST must not be less than FIRST"
        )
    failed = 0
    attempts = [Attempt(task_of(order), order) for order in orders]
    with HostsHere(host_of(folder), 1, tell, _say) as host:
        for result in results(host, attempts):
            _keep(result, folder / "results")
            failed += result.status == "failed"
    return int(failed > 0)


def _keep(result: TaskResult, folder: Path) -> None:
    line = json.dumps(result.line())
    print(line, flush=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing_bytes(str(folder / f"{result.index}.json")) as file:
            file.write(line.encode() + b"\n")
    except OSError as error:
        raise PeerError(f"the result can't be saved in {folder}: {error}") from None


def _show(method: str, params: Json) -> None:
    """Print the tool's progress in the form that a manager reads."""
    total, done = params.get("total"), params.get("progress")
    if method == "notifications/progress" and total and done is not None:
        print(f"openjd_progress: {min(100.0, max(0.0, 100 * done / total)):.1f}", flush=True)
        if message := params.get("message"):
            print(f"openjd_status: {_one_line(message)}", flush=True)
    else:
        _say(method, params)


def _say(method: str, params: Json) -> None:
    """Print the tool's log message for a manager's log."""
    if method == "notifications/message":
        print(_one_line(str(params.get("data"))), file=sys.stderr, flush=True)


def _one_line(text: str) -> str:
    return " ".join(plain(text).split())
