"""``callboard batch``: one tool on many files, by several hosts of this machine."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from callboard.headless.numbers import count, repetitions, seconds
from callboard.headless.scene_host import host_by_scene, settle_host
from callboard.headless.serve import add_host, host_options, warn_of_folders
from callboard.mapping.tasks import PLACES, tasks_of, unfilled
from callboard_programs.batch.pool import BatchWork, HostPool
from callboard_programs.batch.report_file import ReportFile
from callboard_programs.cli.call_command import add_tool_arguments, given_arguments
from callboard_programs.cli.task_files import TaskFiles, described_place
from callboard_programs.cli.task_lines import ended, tell, work_off


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_tool_arguments(parser)
    add_host(parser)
    host_by_scene(parser)
    parser.add_argument(
        "--each",
        metavar="FILES",
        nargs="+",
        action="extend",
        required=True,
        help="a pattern, such as 'a/**/*.usd'",
    )
    parser.add_argument("-j", dest="hosts", type=count, default=1, help="hosts side by side")
    add_task_options(parser)


def add_task_options(parser: argparse.ArgumentParser) -> None:
    """How each task is done, and how often."""
    add_scene_options(parser)
    parser.add_argument("--report", metavar="FILE", type=Path, help="a later run goes on from it")
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        type=Path,
        help="where pictures of the answers go, or sounds and files",
    )
    parser.add_argument(
        "--retries",
        metavar="N",
        type=repetitions,
        default=2,
        help="for a file whose host was lost",
    )
    parser.add_argument("--max-failures", type=count, metavar="N", help="stop after so many")


def add_scene_options(parser: argparse.ArgumentParser) -> None:
    """What is done with the scene of a task, and for how long."""
    parser.add_argument("--no-open", action="store_true", help="the tool itself takes the file")
    parser.add_argument("--save", action="store_true", help="save each scene where it came from")
    parser.add_argument("--timeout", type=seconds, metavar="S", help="seconds for each file")


def run(arguments: argparse.Namespace) -> int:
    """Prints a line of JSON for each file. 0 where all are done, 1 where some failed."""
    return ended(partial(_run, arguments))


def _run(arguments: argparse.Namespace) -> int:
    settle_host(arguments, arguments.each)
    work = BatchWork(
        arguments.tool,
        given_arguments(arguments.arguments),
        host_options(arguments),
        open=not arguments.no_open,
        save=arguments.save,
        retries=arguments.retries,
        timeout=arguments.timeout,
    )
    for word in unfilled(work.given):
        places = ", ".join(f"{{{place}}}" for place in PLACES)
        tell(f"{{{word}}} stays as it is: a file's are {places}")
    tasks = tasks_of(arguments.each)
    warn_of_folders(arguments)
    report = _report(arguments, work)
    pool = HostPool(work, arguments.hosts, tell)
    files = TaskFiles(arguments.out, arguments.tool)
    return work_off(tasks, pool.run, report, files, arguments.max_failures, ordered=True)


def _report(arguments: argparse.Namespace, work: BatchWork) -> ReportFile | None:
    if arguments.report is None:
        return None
    files = [str(Path(pattern).absolute()) for pattern in arguments.each]
    return ReportFile(
        arguments.report, {**work.described(), "files": files, **described_place(arguments.out)}
    )
