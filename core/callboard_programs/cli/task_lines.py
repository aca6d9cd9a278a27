"""Writes the output and the report of a command that runs many tasks. Both have a line of JSON for
each task, and a final line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from callboard.content import Json
from callboard.errors import CallboardError
from callboard.ground.plain_text import plain
from callboard.headless.number_arguments import count, repetitions, seconds
from callboard.headless.scene_host import host_by_scene, settle_host
from callboard.headless.serve import add_host, host_options
from callboard.mapping.task_sources import tasks_over
from callboard.mapping.tasks import PLACES, TaskResult, unfilled
from callboard_programs.cli.call_command import add_tool_arguments, given_arguments
from callboard_programs.cli.command_result import EXITS, say
from callboard_programs.cli.progress_bar import bar, clear, meanwhile
from callboard_programs.cli.task_files import TaskFiles, described_place
from callboard_programs.client.tool_call import failure, new_trace, trace_here
from callboard_programs.farm.orders import Work
from callboard_programs.farm.report_file import ReportFile
from callboard_programs.farm.runner import Attempt, Executor, results


def add_work(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the work and its tasks."""
    parser.set_defaults(needs=[])
    add_tool_arguments(parser)
    add_host(parser)
    host_by_scene(parser)
    parser.add_argument(
        "--over",
        "--each",
        metavar="WHAT",
        nargs="+",
        action="extend",
        required=True,
        help="files ('a/**/*.usd'), frames (1-100x2), or one FILE.jsonl or FILE.csv",
    )
    parser.add_argument(
        "--skill",
        metavar="NAME==VERSION",
        action="append",
        default=[],
        help="refuse to run on hosts without this version of the skill",
    )


def work_of(arguments: argparse.Namespace) -> Work:
    """Return the work that :func:`add_work`'s arguments and the scene options describe. Raises
    PeerError."""
    settle_host(arguments, arguments.over)
    return Work(
        arguments.tool,
        given_arguments(arguments.arguments),
        host_options(arguments),
        open=not arguments.no_open,
        save=arguments.save,
        timeout=arguments.timeout,
        needs=dict(arguments.needs),
        skills=dict(map(_wanted, arguments.skill)),
        trace=trace_here() or new_trace(),
    )


def _wanted(text: str) -> tuple[str, str | None]:
    name, equals, version = text.partition("==")
    return name, version if equals else None


def add_task_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that control how each task is done and retried."""
    add_scene_options(parser)
    parser.add_argument(
        "--scene",
        metavar="COLUMN",
        help="the column that contains the scene to open; not passed to the tool",
    )
    parser.add_argument(
        "--report",
        metavar="FILE",
        type=Path,
        help="write a report from which a later run can continue",
    )
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        type=Path,
        help="save the pictures, sounds and files in the answers to this folder",
    )
    parser.add_argument(
        "--retries",
        metavar="N",
        type=repetitions,
        default=2,
        help="number of retries for a task whose host was lost",
    )
    parser.add_argument("--logs", metavar="DIR", type=Path, help="write a log file for each task")
    parser.add_argument(
        "--collect", metavar="DIR", type=Path, help="copy the files that tasks wrote"
    )
    parser.add_argument(
        "--fail-on",
        metavar="KEY=VALUE",
        type=_answer,
        action="append",
        default=[],
        help="count a task as failed if its answer has this value, such as passed=false for a "
        "check",
    )
    parser.add_argument(
        "--max-failures", type=count, metavar="N", help="stop after this many failures"
    )


def _answer(text: str) -> tuple[str, Any]:
    """Return the key and the value of ``--fail-on``. The value is read as JSON, or else as
    text."""
    key, equals, written = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(
            f"'{text[:80]}' isn't of the form KEY=VALUE, such as passed=false"
        )
    try:
        return key, json.loads(written)
    except ValueError:
        return key, written


def _judged(result: TaskResult, unwanted: Sequence[tuple[str, Any]]) -> TaskResult:
    """Return the result, or a failure if the tool's answer has an unwanted value."""
    if result.status == "failed" or not isinstance(result.value, dict):
        return result
    for key, value in unwanted:
        if key in result.value and result.value[key] == value:
            message = f"the tool's answer has {key}={json.dumps(value)}"
            failed = {"kind": "failed", "message": message, "result": result.value}
            return replace(result, status="failed", value=failed)
    return result


def add_scene_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the scene and the time limit of a task."""
    parser.add_argument(
        "--no-open",
        action="store_true",
        help="open no scene, because the tool opens the file itself",
    )
    parser.add_argument("--save", action="store_true", help="save each scene back to its file")
    parser.add_argument(
        "--timeout", type=seconds, metavar="S", help="time limit in seconds for each task"
    )


def tell(sentence: str) -> None:
    """Print a sentence for the user."""
    clear()
    print(f"callboard: {plain(sentence)}", file=sys.stderr)


def ended(work: Callable[[], int]) -> int:
    """Do the work, and return the command's exit code. If an error ends the work, print the error
    as JSON."""
    try:
        return work()
    except CallboardError as error:
        reported = failure(error)
        say(error)
        print(json.dumps({"error": reported}))
        return EXITS[reported["kind"]]


def work_off(
    arguments: argparse.Namespace,
    work: Work,
    hosts: Callable[[], AbstractContextManager[Executor]],
    stopped: Callable[[], bool] = lambda: False,
    *,
    ordered: bool = False,
) -> int:
    """Do the tasks that the report doesn't list as done. Return 0 if no task failed, 1 otherwise.
    ``arguments`` are those of :func:`add_work` and :func:`add_task_options`. If ``ordered`` is
    true, the report is sorted at the end."""
    work = replace(work, retries=arguments.retries, files=arguments.out is not None)
    tasks = tasks_over(arguments.over, arguments.scene)
    places = [*PLACES, *tasks[0].values]
    for word in unfilled(work.given, places):
        known = ", ".join(f"{{{place}}}" for place in places)
        tell(f"{{{word}}} isn't filled in: a task has only {known}")
    report = None
    if arguments.report is not None:
        # Hosts come and go, and their folders differ, so only the kind of host describes the run.
        begun = {**work.described(), "host": arguments.host, "over": arguments.over}
        begun |= {"skills": dict(work.skills), **described_place(arguments.out)}
        report = ReportFile(arguments.report, begun)
    files = TaskFiles(arguments.out, arguments.tool, arguments.logs, arguments.collect)
    kept = report.kept(tasks) if report else []
    if report:
        report.open(kept)
    progress = _Progress(len(tasks), arguments.max_failures)
    progress.take(kept)
    done_before = {result.index for result in kept}
    left = [task for task in tasks if task.index not in done_before]
    kept.clear()
    try:
        if left and not progress.enough:
            meanwhile(f"starting hosts for {len(left)} of {len(tasks)} tasks")
            attempts = (Attempt(task, work.order(task, task.key)) for task in left)
            with (
                hosts() as executor,
                closing(results(executor, attempts, work.retries, stopped)) as done,
            ):
                judged = (_judged(result, arguments.fail_on) for result in done)
                progress.take(_written(map(files.keep, judged), report))
    except KeyboardInterrupt:
        again = "; the same command continues from here" if report else ""
        print(f"\ncallboard: stopped{again}", file=sys.stderr)
        raise
    finally:
        if report:
            report.close(progress.finished(), ordered=ordered)
    for remark in files.remarks:
        tell(remark)
    clear()
    print(json.dumps(progress.finished()))
    return int(bool(progress.failed))


def _written(results: Iterable[TaskResult], report: ReportFile | None) -> Iterator[TaskResult]:
    for result in results:
        if report:
            report.add(result)
        yield result


class _Progress:
    """Prints the lines and the progress bar during the run."""

    def __init__(self, total: int, max_failures: int | None) -> None:
        self.failed = self._known = 0
        self._total = total
        self._most = max_failures

    @property
    def enough(self) -> bool:
        """True once the maximum number of failures has been reached."""
        return self._most is not None and self.failed >= self._most

    def take(self, results: Iterable[TaskResult]) -> None:
        """Print the results until there are no more or too many tasks have failed."""
        for result in results:
            self._known += 1
            self.failed += result.status == "failed"
            clear()
            print(json.dumps(result.line()), flush=True)
            bar(self._known, self._total, f"{self.failed} failed" if self.failed else "")
            if self.enough:
                return

    def finished(self) -> Json:
        """Return the last line. It has ``left`` if some tasks weren't done."""
        left = self._total - self._known
        reported = {"event": "finished", "done": self._known - self.failed, "failed": self.failed}
        return {**reported, "left": left} if left else reported
