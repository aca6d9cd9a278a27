"""Reruns the tests that failed in a CI run while other tests shared the machine.

    python packaging/run_again.py LOGS

LOGS is the folder in which `.ci/stages.sh` keeps the files of each stage of tests: its command,
pytest's cache, its counts and its report. A stage's failed tests are run alone, in a new process.
If all pass, they are reported as passed, and `NUMBER.alone` names each in a sentence. If more than
three tests failed, none is rerun.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

#: Maximum number of failed tests in the whole run. More failures can't be a fluke.
LIMIT = 3
#: Seconds for one stage's tests.
SECONDS = 600


class Stage:
    """A stage of tests, read from its files. ``notes`` is the files' common path, without the
    suffix."""

    def __init__(self, notes: str) -> None:
        self.cache, self.log = notes + ".cache", Path(notes + ".again")
        self.report, self.counts = Path(notes + ".report"), Path(notes + ".counts")
        self.alone = Path(notes + ".alone")
        words = Path(notes + ".command").read_text("utf-8").split("\0")
        self.name, *self.command = words[:-1]
        self.failed = self._failed() if self._reported().endswith("FAILED (1)") else []

    def _reported(self) -> str:
        return self.report.read_text("utf-8").rstrip()

    def _failed(self) -> list[str]:
        """Return the failed tests that pytest recorded, or an empty list if something other than
        tests failed."""
        try:
            noted = json.loads(Path(self.cache, "v/cache/lastfailed").read_text("utf-8"))
        except (OSError, ValueError):
            return []
        return list(noted) if all("::" in name for name in noted) else []

    def run_again(self) -> None:
        """Run the failed tests again. Print pytest's output, and correct the counts if all of them
        pass."""
        print(f"\n=== {self.name}: running the failed tests again, alone", flush=True)
        command = ["timeout", "--kill-after=20", str(SECONDS), *self.command]
        command += ["-n", "0", "--last-failed", "-o", f"cache_dir={self.cache}"]
        # The output goes to a file, because a process that a test leaves running would keep a pipe
        # open.
        with self.log.open("wb") as log:
            code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode
        output = self.log.read_text("utf-8", errors="replace")
        print(output.encode("ascii", "backslashreplace").decode(), flush=True)
        if code or _counted(output) != {"passed": len(self.failed)} or self._failed():
            return
        passed, _, skipped = self.counts.read_text("utf-8").split()
        self.counts.write_text(f"{int(passed) + len(self.failed)} 0 {skipped}\n", "utf-8")
        outcome = f"ok ({len(self.failed)} only alone)\n"
        self.report.write_text(self._reported().replace("FAILED (1)", outcome), "utf-8")
        sentence = "failed beside others, passed alone: {} ({})\n"
        told = "".join(sentence.format(name, self.name) for name in self.failed)
        self.alone.write_text(told, "utf-8")


def _counted(output: str) -> dict[str, int]:
    """Return the number of tests with each outcome, from pytest's summary line."""
    (summary,) = re.findall(r"^.* in [\d.]+s.*$", output, re.M)[-1:] or [""]
    counted = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", summary)}
    beside = ("deselected", "warning", "warnings")
    return {word: number for word, number in counted.items() if word not in beside}


def main(logs: Path) -> None:
    commands = sorted(logs.glob("*.command"))
    stages = [Stage(str(each.with_suffix(""))) for each in commands]
    number = sum(len(stage.failed) for stage in stages)
    if number > LIMIT:
        print(f"\n{number} tests failed; more than {LIMIT} are not run again")
        return
    for stage in stages:
        if stage.failed:
            stage.run_again()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
