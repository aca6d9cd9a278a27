"""Shows the progress of the tests: first their number and approximate duration, then each failure
as it happens, and a running count in place of dots. With ``-v`` pytest shows its own list.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from touched import PROJECT, is_slow

#: Approximate seconds per test on two processors: in files of the quick tier, and in slow ones.
QUICK, SLOW = 0.03, 0.7


class Progress:
    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self.reporter = reporter
        reporter.showfspath = False
        self.known = self.done = self.failed = 0
        self.over = False

    def announce(self, ids: Sequence[str]) -> None:
        if self.known or not ids:
            return
        self.known = len(ids)
        slow: dict[str, bool] = {}
        for name in {each.partition("::")[0] for each in ids}:
            slow[name] = is_slow(Path(PROJECT, name).resolve())
        seconds = sum(SLOW if slow[each.partition("::")[0]] else QUICK for each in ids)
        long = f"{seconds / 60:.0f} minutes" if seconds > 90 else f"{seconds:.0f} seconds"
        self.reporter.write_line(f"{self.known:,} tests, about {long} on two quiet processors")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.announce([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self.announce(ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Count a test as usual, but without a letter. The summary at the end needs the outcome's
        name."""
        if self.over or hasattr(report, "wasxfail") or (report.passed and report.when != "call"):
            return None
        if report.failed:
            return ("failed" if report.when == "call" else "error"), "", ""
        return report.outcome, "", ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed += 1
            crash = getattr(report.longrepr, "reprcrash", None)
            why = str(crash.message if crash else report.longrepr).strip().partition("\n")[0]
            self._say(f"FAILED {report.nodeid}: {why}")
        if report.when == "teardown":
            self.done += 1
            count = f"{self.done:,} of {self.known:,}, {self.failed or 'none'} failed"
            if self.reporter.isatty:
                self.reporter.rewrite(count, erase=True)
            elif self.done * 10 // self.known > (self.done - 1) * 10 // self.known:
                self._say(count)

    def _say(self, line: str) -> None:
        if self.reporter.isatty:
            self.reporter.rewrite("", erase=True)
            self.reporter.rewrite("")
        self.reporter.write_line(line)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self.over = True
        if self.reporter.isatty:
            self.reporter.write_line("")
