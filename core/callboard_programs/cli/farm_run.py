"""``callboard farm run``: one tool, or a workflow, over many tasks."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic

from callboard.errors import PeerError
from callboard.headless.ending import Ending
from callboard.headless.numbers import count
from callboard.headless.scene_host import settle_host
from callboard.headless.serve import host_options, warn_of_folders
from callboard.mapping.host_process import GOODBYE, HostProcess
from callboard.mapping.over import tasks_over
from callboard.mapping.tasks import Task, TaskResult
from callboard_programs.batch.report_file import ReportFile
from callboard_programs.cli.batch_command import add_task_options
from callboard_programs.cli.farm_options import (
    FARM_GOODBYE,
    add_attached,
    add_certificates,
    add_wear,
    add_work,
    certificates_of,
    end_attached,
    wear_options,
    work_of,
)
from callboard_programs.cli.task_files import TaskFiles, described_place
from callboard_programs.cli.task_lines import ended, work_off
from callboard_programs.farm.farm import Farm
from callboard_programs.farm.kept_files import KeptFiles
from callboard_programs.farm.orders import Asker
from callboard_programs.farm.security import require_private_address, security_of

#: Seconds between two lines about how things stand.
_AGAIN = 0.3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_work(parser)
    parser.add_argument("--scheduler", metavar="ADDRESS", help="without it a farm of its own")
    parser.add_argument("-n", dest="hosts", type=count, default=2, help="hosts of its own farm")
    add_task_options(parser)
    parser.add_argument(
        "--scene", metavar="COLUMN", help="what of each row is a scene to open, and no argument"
    )
    parser.add_argument("--logs", metavar="DIR", type=Path, help="a file for each task")
    parser.add_argument("--collect", metavar="DIR", type=Path, help="copies of what tasks wrote")
    add_wear(parser)
    add_certificates(parser)
    add_attached(parser)
    # Whom the hosts' records name, of who starts it for somebody else.
    parser.add_argument("--asker", type=_asker, help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Prints a line of JSON for each task. 0 where all are done, 1 where some failed."""
    return ended(partial(_run, arguments))


def _run(arguments: argparse.Namespace) -> int:
    settle_host(arguments, arguments.over)
    certificates = certificates_of(arguments)
    if arguments.scheduler is not None:
        _require_others_hosts(arguments)
        require_private_address(arguments.scheduler, certificates)
    needs = {f"host:{arguments.host}": 1.0, **dict(arguments.need)}
    given = {
        "retries": arguments.retries,
        "needs": needs,
        "asker": arguments.asker,
        "files": arguments.out is not None,
    }
    work = replace(work_of(arguments), **given)
    tasks = tasks_over(arguments.over, arguments.scene)
    report = None
    if arguments.report is not None:
        # Hosts come and go, each with its folders: only their kind is the run's.
        begun = {**work.described(), "host": arguments.host, "over": arguments.over}
        begun |= described_place(arguments.out)
        report = ReportFile(arguments.report, {**begun, "skills": dict(work.skills)})
    security = security_of(certificates)
    kept = KeptFiles(arguments.logs, arguments.collect)
    files = TaskFiles(arguments.out, arguments.tool)
    stopped = threading.Event()
    end_attached(arguments, stopped.set, GOODBYE)

    def results_of(left: Sequence[Task]) -> Generator[TaskResult, None, None]:
        if not left:
            return
        with ExitStack() as stack:
            address = stack.enter_context(_scheduler(arguments))
            farm = stack.enter_context(Farm(address, security))
            # An exception from a signal may come where Dask lets an object go, and be lost there.
            Ending(stopped.set)
            told = _Standing() if arguments.attached else lambda out, hosts: None
            results = farm.run(work, left, stopped.is_set, told)
            for result, about in stack.enter_context(closing(results)):
                kept.keep(result, about)
                yield result

    return work_off(tasks, results_of, report, files, arguments.max_failures, ordered=False)


@contextmanager
def _scheduler(arguments: argparse.Namespace) -> Iterator[str]:
    """The one that is named, or that of a farm which lives as long as this run."""
    if arguments.scheduler is not None:
        yield arguments.scheduler
        return
    warn_of_folders(arguments)
    options = [*host_options(arguments), *wear_options(arguments), "-n", str(arguments.hosts)]
    command = [sys.executable, "-m", "callboard", "farm", "local", "--attached", *options]
    with HostProcess(command, FARM_GOODBYE) as farm:
        yield farm.ready("scheduler")["scheduler"]


def _require_others_hosts(arguments: argparse.Namespace) -> None:
    """Raises PeerError for what would have no effect on hosts that somebody else started."""
    if arguments.skills or arguments.roots or arguments.deny or arguments.allow:
        raise PeerError(
            "the hosts of a scheduler have been started with folders and capabilities of their "
            "own; give --skills, --root, --deny and --allow to `callboard farm worker`"
        )


class _Standing:
    """Tells the program that started this how things stand: a line now and then, where it
    changed."""

    def __init__(self) -> None:
        self._told, self._at = (-1, -1), 0.0

    def __call__(self, out: int, hosts: int) -> None:
        if (out, hosts) != self._told and monotonic() - self._at > _AGAIN:
            self._told, self._at = (out, hosts), monotonic()
            print(json.dumps({"event": "standing", "out": out, "hosts": hosts}), flush=True)


def _asker(text: str) -> Asker:
    parts = json.loads(text)
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError
    return Asker(*parts)
