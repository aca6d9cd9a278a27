"""``callboard farm`` with hosts that are killed or stopped, or that hang or leak, and with runs
that are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from e2e.serving import callboard
from needed import need
from shots import Shots
from waiting import until

need("pxr")
need("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(os.name == "nt", reason="only POSIX has these signals"),
]


class FarmShots(Shots):
    """Shots, and a farm that runs over them."""

    def command(self, *options: str, part: str = "") -> list[str]:
        """Return the command that runs over all shots, or over those whose name begins with
        ``part``."""
        over = ["--over", str(self.folder / f"{part}*.usda"), "--report", str(self.reported(part))]
        if "--scheduler" not in options:
            over += self.skills
        return callboard("farm", "run", *self.called, *over, *options)

    def reported(self, part: str = "") -> Path:
        return self.folder / f"report{part}.jsonl"

    def done(self, part: str) -> int:
        """Return the number of results that the run has."""
        return self.reported(part).read_text().count('"status": "done"')

    def run(self, *options: str, status: int = 0) -> list[Any]:
        """Return the lines that the run prints."""
        return self.printed(self.command(*options), status)

    def ended_by(
        self,
        signal_number: signal.Signals,
        *options: str,
        lines: int,
        after: Callable[[], bool] = lambda: True,
    ) -> set[str]:
        """Send a run the signal after ``lines`` lines. Return the tasks that the run had
        acknowledged by then."""
        command = self.command("-n", "1", *options)
        with subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE) as run:
            assert run.stdout is not None
            told = [json.loads(run.stdout.readline()) for _ in range(lines)]
            until(after, "the moment to end the run", seconds=30)
            run.send_signal(signal_number)
            told += map(json.loads, run.stdout)
            assert run.wait(30) == (130 if signal_number == signal.SIGINT else -signal_number)
        return {Path(line["file"]).stem for line in told}


def test_hosts_that_are_killed_stopped_orphaned_hang_and_leak_lose_nothing(tmp_path: Path) -> None:
    shots = FarmShots(tmp_path, 10)
    befalls = ("sc00.orphaned", "sc01.killed", "sc03.stopped", "sc04.endless", "sc06.leaking")
    for fate in befalls:
        (tmp_path / fate).touch()
    logs, copies = tmp_path / "logs", tmp_path / "copies"
    wear = ["--timeout", "6", "--max-memory", "500M", "--skill", "shots==1.2"]
    *lines, finished = shots.run(*wear, "--logs", str(logs), "--collect", str(copies))
    assert finished == {"event": "finished", "done": 10, "failed": 0}
    by_name = {Path(line["file"]).stem: line for line in lines}
    assert sorted(by_name) == shots.names
    attempts = {name for name, line in by_name.items() if line["attempts"] > 1}
    # Tasks for which a busy machine was too slow may fail too.
    assert attempts >= {"sc01", "sc03", "sc04"}
    # The host that leaked got no further task.
    leaked = str(by_name["sc06"]["result"]["pid"])
    assert [name for name, pid in shots.visits() if pid == leaked][-1] == "sc06"
    shots.each_is_right()
    shots.none_runs()
    assert [name for name, _ in shots.visits()].count("sc06") == 1
    assert sorted(path.name for path in copies.iterdir()) == [
        f"{number:06}-{name}.txt" for number, name in enumerate(shots.names)
    ]
    assert "--- stdout\nlooked at sc07" in (logs / "000007.log").read_text()

    assert shots.begun() == set(shots.names)
    assert shots.run("--skill", "shots==1.2")[-1] == finished
    assert shots.begun() == set()


@contextmanager
def farm_that_stays(shots: Shots, hosts: int = 1) -> Iterator[Any]:
    """Yield the farm's ready line."""
    local = callboard("farm", "local", "-n", str(hosts), *shots.skills)
    with subprocess.Popen(local, env=shots.env, stdout=subprocess.PIPE) as farm:
        assert farm.stdout is not None
        ready = json.loads(farm.stdout.readline())
        try:
            yield ready
        finally:
            os.kill(ready["pid"], signal.SIGTERM)
        assert farm.wait(30) == 0


def test_a_run_that_is_killed_goes_on_and_one_that_is_stopped_frees_its_hosts(
    tmp_path: Path,
) -> None:
    shots = FarmShots(tmp_path, 8)
    acknowledged = shots.ended_by(signal.SIGKILL, lines=2)
    shots.none_runs()
    shots.begun()
    with farm_that_stays(shots) as ready:
        assert ready["event"] == "ready"
        assert ready["dashboard"].startswith("http://127.0.0.1:")
        there = ["--scheduler", ready["scheduler"]]
        endless = tmp_path / "sc07.endless"
        endless.touch()
        more = shots.ended_by(signal.SIGINT, *there, lines=3, after=lambda: not endless.exists())
        assert not acknowledged & shots.begun()
        # The run uses the host that the endless task has freed. Otherwise no result would ever
        # come.
        assert shots.run(*there)[-1] == {"event": "finished", "done": 8, "failed": 0}
        assert shots.begun() == set(shots.names) - acknowledged - more

        shots.reported().unlink()
        *lines, _ = shots.run(*there, "--skill", "shots==2.0", status=1)
        assert {line["error"]["kind"] for line in lines} == {"wrong"}
        assert "but 2.0 is needed" in lines[0]["error"]["message"]
        unknown = callboard("farm", "run", "shots__nothing", *there, "--over", "1")
        ended = subprocess.run(unknown, env=shots.env, capture_output=True, timeout=60)
        assert ended.returncode == 2
        assert "shots__nothing" in json.loads(ended.stdout)["error"]["message"]
    shots.none_runs()
    shots.each_is_right()


def out_on(ready: Any) -> int:
    """Return the number of tasks in the farm's scheduler, read from Dask's own status page."""
    where = urlsplit(ready["dashboard"])
    with urlopen(f"http://{where.netloc}/json/counts.json", timeout=30) as counts:
        return int(json.load(counts)["tasks"])


def test_two_runs_share_their_hosts_and_one_that_is_stopped_frees_them(tmp_path: Path) -> None:
    shots = FarmShots(tmp_path, 24)
    lasts = ["sc08", "sc09", "sc18", "sc19"]
    for name in (*shots.names[:10], *lasts, *shots.names[20:]):
        (tmp_path / f"{name}.held").touch()

    def let_go(names: Sequence[str]) -> None:
        for name in names:
            (tmp_path / f"{name}.held").unlink()

    with farm_that_stays(shots, 2) as ready, ExitStack() as running:

        def begin(part: str) -> subprocess.Popen[bytes]:
            """Start a run over some of the shots. Return it once its first tasks are with the
            hosts."""
            before = out_on(ready)
            where = ["--scheduler", ready["scheduler"], "--need", "memory=1e6"]
            command = shots.command(*where, part=part)
            run = running.enter_context(
                subprocess.Popen(command, env=shots.env, stdout=subprocess.DEVNULL)
            )
            running.callback(run.kill)
            until(lambda: out_on(ready) > before, "the run's first tasks", seconds=60)
            return run

        one = begin("sc0")
        until(lambda: len(shots.visits()) == 2, "a task on each host", seconds=60)
        other = begin("sc1")
        let_go(shots.names[:8])
        # Neither can end yet, so each has to get hosts before the other has finished.
        until(lambda: shots.done("sc0") and shots.done("sc1"), "results of both", seconds=60)
        let_go(lasts)
        assert (one.wait(60), other.wait(60)) == (0, 0)
        assert (shots.done("sc0"), shots.done("sc1")) == (10, 10)

        until(lambda: out_on(ready) == 0, "the end of both runs", seconds=60)
        stopped = begin("sc2[01]")
        shots.wait_begun("sc20", "sc21")
        other = begin("sc2[23]")
        stopped.send_signal(signal.SIGINT)
        assert stopped.wait(60) == 130
        shots.wait_begun("sc22", "sc23")  # The results come at once, because both hosts are free.
        let_go(["sc22", "sc23"])
        assert other.wait(60) == 0
        assert shots.done("sc2[23]") == 2
    shots.none_runs()
