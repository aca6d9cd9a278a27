"""``callboard farm run``: runs one tool, or a workflow, over many tasks."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from time import monotonic

from callboard.errors import PeerError
from callboard.headless.number_arguments import count
from callboard.headless.serve import host_options, warn_of_folders
from callboard.headless.stop_signals import Ending
from callboard.mapping.host_process import GOODBYE, HostProcess
from callboard_programs.cli.farm_options import (
    FARM_GOODBYE,
    add_attached,
    add_certificates,
    add_needs,
    add_wear,
    certificates_of,
    end_attached,
    wear_options,
)
from callboard_programs.cli.task_lines import add_task_options, add_work, ended, work_of, work_off
from callboard_programs.farm.dask_hosts import DaskHosts
from callboard_programs.farm.orders import RunOwner
from callboard_programs.farm.security import require_private_address, security_of

#: Minimum seconds between two lines about the run's state.
_AGAIN = 0.3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_work(parser)
    add_needs(parser)
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="by default, the run starts its own farm"
    )
    parser.add_argument("-n", dest="hosts", type=count, default=2, help="hosts in the run's farm")
    add_task_options(parser)
    add_wear(parser)
    add_certificates(parser)
    add_attached(parser)
    # The client to name in the hosts' records, when a program runs this command for a client.
    parser.add_argument("--asker", type=_asker, help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Print a line of JSON for each task. Return 0 if all are done, 1 if some failed."""
    return ended(partial(_run, arguments))


def _run(arguments: argparse.Namespace) -> int:
    certificates = certificates_of(arguments)
    if arguments.scheduler is not None:
        _require_others_hosts(arguments)
        require_private_address(arguments.scheduler, certificates)
    work = work_of(arguments)
    needs = {f"host:{arguments.host}": 1.0, **work.needs}
    work = replace(work, needs=needs, asker=arguments.asker)
    security = security_of(certificates)
    stopped = threading.Event()
    end_attached(arguments, stopped.set, GOODBYE)

    @contextmanager
    def hosts() -> Iterator[DaskHosts]:
        reported = _StatusLines() if arguments.attached else lambda out, hosts: None
        with (
            _scheduler(arguments) as address,
            DaskHosts(address, security, needs, reported) as executor,
        ):
            # Set a flag instead of raising an exception, which would be lost if the signal came
            # while Dask was releasing an object.
            Ending(stopped.set)
            yield executor

    return work_off(arguments, work, hosts, stopped.is_set)


@contextmanager
def _scheduler(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the address of the named scheduler, or of a farm that exists only during this run."""
    if arguments.scheduler is not None:
        yield arguments.scheduler
        return
    warn_of_folders(arguments)
    options = [*host_options(arguments), *wear_options(arguments), "-n", str(arguments.hosts)]
    command = [sys.executable, "-m", "callboard", "farm", "local", "--attached", *options]
    with HostProcess(command, FARM_GOODBYE) as farm:
        yield farm.ready("scheduler")["scheduler"]


def _require_others_hosts(arguments: argparse.Namespace) -> None:
    """Raise PeerError for options that would have no effect because the hosts are already
    running."""
    if arguments.skills or arguments.roots or arguments.deny or arguments.allow:
        raise PeerError(
            "a scheduler's hosts have been started with their own folders and capabilities; "
            "give --skills, --root, --deny and --allow to `callboard farm worker`"
        )


class _StatusLines:
    """Reports the run's state to the program that started the run: a line now and then, if the
    state has changed."""

    def __init__(self) -> None:
        self._reported, self._at = (-1, -1), 0.0

    def __call__(self, out: int, hosts: int) -> None:
        if (out, hosts) != self._reported and monotonic() - self._at > _AGAIN:
            self._reported, self._at = (out, hosts), monotonic()
            print(json.dumps({"event": "standing", "out": out, "hosts": hosts}), flush=True)


def _asker(text: str) -> RunOwner:
    parts = json.loads(text)
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError
    return RunOwner(*parts)
