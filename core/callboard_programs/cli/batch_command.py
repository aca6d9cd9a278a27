"""``callboard batch``: runs one tool over many files, frames or rows, on hosts on this machine."""

from __future__ import annotations

import argparse
from functools import partial

from callboard.headless.number_arguments import count
from callboard.headless.serve import warn_of_folders
from callboard_programs.cli.task_lines import (
    add_task_options,
    add_work,
    ended,
    tell,
    work_of,
    work_off,
)
from callboard_programs.farm.hosts_here import HostsHere


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_work(parser)
    parser.add_argument("-j", dest="hosts", type=count, default=1, help="number of hosts")
    add_task_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print a line of JSON for each task. Return 0 if all are done, 1 if some failed."""

    def work() -> int:
        wanted = work_of(arguments)
        warn_of_folders(arguments)
        hosts = partial(HostsHere, wanted.host_options, arguments.hosts, tell)
        return work_off(arguments, wanted, hosts, ordered=True)

    return ended(work)
