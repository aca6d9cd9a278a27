"""What a command over many tasks prints and keeps: a line of JSON for each, and a last one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing

from callboard.content import Json
from callboard.errors import CallboardError
from callboard.ground.plain_text import plain
from callboard.mapping.tasks import Task, TaskResult
from callboard_programs.batch.report_file import ReportFile
from callboard_programs.cli.outcome import EXITS, say
from callboard_programs.cli.progress_bar import bar, clear, meanwhile
from callboard_programs.cli.task_files import TaskFiles
from callboard_programs.client.tool_call import failure


def tell(sentence: str) -> None:
    """Something that whoever started it should know."""
    clear()
    print(f"callboard: {plain(sentence)}", file=sys.stderr)


def ended(work: Callable[[], int]) -> int:
    """The command's exit code, with what ended it told as JSON."""
    try:
        return work()
    except CallboardError as error:
        told = failure(error)
        say(error)
        print(json.dumps({"error": told}))
        return EXITS[told["kind"]]


def work_off(
    tasks: Sequence[Task],
    results_of: Callable[[Sequence[Task]], Generator[TaskResult, None, None]],
    report: ReportFile | None,
    files: TaskFiles,
    max_failures: int | None,
    *,
    ordered: bool,
) -> int:
    """Does what the report doesn't know as done. 0 where all are done, 1 where some failed.
    ``ordered`` puts the report in order at the end, for which all results are held till then."""
    kept = report.kept(tasks) if report else []
    if report:
        report.open(kept)
    progress = _Progress(len(tasks), max_failures, ordered)
    progress.take(kept)
    known = {result.index for result in kept}
    left = [task for task in tasks if task.index not in known]
    if left:
        meanwhile(f"hosts start, for {len(left)} of {len(tasks)}")
    kept.clear()
    whole = False
    try:
        with closing(results_of(left)) as results:
            progress.take(_written(map(files.keep, results), report))
        whole = True
    except KeyboardInterrupt:
        again = "; the same command goes on from here" if report else ""
        print(f"\ncallboard: stopped{again}", file=sys.stderr)
        raise
    finally:
        if report and ordered:
            report.close(progress.results if whole else None, progress.finished())
        elif report:
            report.end(progress.finished())
    if files.dropped:
        tell("the answers hold pictures, sounds or files; --out FOLDER keeps them")
    clear()
    print(json.dumps(progress.finished()))
    return int(bool(progress.failed))


def _written(results: Iterable[TaskResult], report: ReportFile | None) -> Iterator[TaskResult]:
    for result in results:
        if report:
            report.add(result)
        yield result


class _Progress:
    """What is printed on the way."""

    def __init__(self, total: int, max_failures: int | None, holds: bool) -> None:
        self.results: list[TaskResult] = []
        self.failed = 0
        self._known = 0
        self._total = total
        self._most = max_failures
        self._holds = holds

    def take(self, results: Iterable[TaskResult]) -> None:
        """Up to the end, or to more failures than are allowed."""
        for result in results:
            if self._holds:
                self.results.append(result)
            self._known += 1
            self.failed += result.status == "failed"
            clear()
            print(json.dumps(result.line()), flush=True)
            bar(self._known, self._total, f"{self.failed} failed" if self.failed else "")
            if self._most is not None and self.failed >= self._most:
                return

    def finished(self) -> Json:
        """``left`` is there where not all were done."""
        left = self._total - self._known
        told = {"event": "finished", "done": self._known - self.failed, "failed": self.failed}
        return {**told, "left": left} if left else told
