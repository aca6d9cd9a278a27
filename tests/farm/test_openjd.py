"""``callboard farm export``: a job that Open Job Description's own programs accept and run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.serving import callboard
from needed import need
from shots import Shots
from waiting import until

need("pxr")
need("openjd.model")
pytestmark = pytest.mark.slow

OPENJD = [sys.executable, "-m", "openjd"]


class Job(Shots):
    """Shots, and a job bundle made from them."""

    def farm(self, part: str, *options: str) -> list[Any]:
        """Return the lines that the command prints. The command may fail."""
        done = subprocess.run(
            callboard(
                "farm", part, *self.called, "--over", self.scenes, "--skills", "skills", *options
            ),
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            timeout=100,
        )
        assert done.stdout, done.stderr.decode()
        return [json.loads(line) for line in done.stdout.splitlines()]

    @property
    def env(self) -> dict[str, str]:
        # A render manager starts the `callboard` command that is installed on the machine.
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        return {**super().env, "PATH": path}

    def openjd(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*OPENJD, *words], cwd=self.folder, env=self.env, capture_output=True, text=True
        )

    def results(self) -> dict[int, Any]:
        files = (self.folder / "job" / "results").glob("*.json")
        return {int(file.stem): json.loads(file.read_text()) for file in files}


def test_a_job_is_valid_and_its_results_are_those_of_a_live_run(tmp_path: Path) -> None:
    job = Job(tmp_path, 3)
    (tmp_path / "sc01.bad").write_text("nobody can\nlook at that")
    needs = ["--need", "gpu", "--need", "memory=16e9", "--need", "license-karma=2"]
    (told,) = job.farm("export", "--openjd", "job", "--timeout", "60", *needs)
    assert told["tasks"] == 3
    checked = job.openjd("check", told["template"])
    assert checked.returncode == 0, checked.stdout
    template = json.loads(Path(told["template"]).read_text())
    amounts = template["steps"][0]["hostRequirements"]["amounts"]
    assert [one["name"] for one in amounts] == [
        "amount.worker.gpu",
        "amount.worker.memory",
        "amount.license_karma",
    ]
    assets = json.loads((tmp_path / "job" / "asset_references.json").read_text())
    assert len(assets["assetReferences"]["inputs"]["filenames"]) == 3

    # A task that fails ends OpenJD's own session, so the failing task is the last one.
    order = json.dumps([{"Index": index} for index in (0, 2, 1)])
    ran = job.openjd("run", told["template"], "--tasks", order)
    assert "openjd_fail: ValueError: nobody can look at that\n" in ran.stdout, ran.stdout
    assert "openjd_progress: 25.0" in ran.stdout
    exported = job.results()
    *live, _ = job.farm("run", "-n", "1")
    assert exported[0]["result"]["pid"] == exported[2]["result"]["pid"]  # one host did both tasks
    for line in live:
        theirs = exported[line["index"]]
        for one in (line, theirs):
            one.get("error", {}).pop("call", None)  # the call's id in the records
            one.get("result", {}).pop("pid", None)
        assert theirs == line


@pytest.mark.skipif(os.name == "nt", reason="only POSIX has these signals")
def test_a_host_ends_with_its_session_however_that_ends(tmp_path: Path) -> None:
    job = Job(tmp_path, 1)
    (tmp_path / "sc00.endless").touch()
    job.farm("export", "--openjd", "job")
    (tmp_path / "session").mkdir()

    def session(step: str, *words: str) -> list[str]:
        return callboard("farm", "session", step, str(tmp_path / "session"), *words)

    options = ["--host", "openusd", "--skills", str(tmp_path / "skills")]
    subprocess.run(session("enter", *options), env=job.env, check=True, timeout=60)
    words = [str(tmp_path / "job" / "orders.jsonl"), "0", "--results", str(tmp_path)]
    task = subprocess.Popen(session("task", *words), env=job.env, stdout=subprocess.PIPE, text=True)
    with task:
        assert task.stdout is not None
        assert task.stdout.readline() == "openjd_progress: 25.0\n"
        # The manager cancels an endless task, and removes the session's folder.
        task.send_signal(signal.SIGTERM)
        assert task.wait(30) == 130
    state = tmp_path / "session" / "callboard-host.json"
    assert state.stat().st_mode & 0o077 == 0
    state.unlink()
    words_of_keeper = tmp_path / "session" / "callboard-host.log"
    until(lambda: not words_of_keeper.exists(), "the host's end", seconds=30)
    left = subprocess.run(session("leave"), env=job.env, timeout=60)
    assert left.returncode == 0


def test_what_no_template_can_say_is_refused(tmp_path: Path) -> None:
    job = Job(tmp_path, 1)
    (told,) = job.farm("export", "--openjd", "job", "--root", str(tmp_path / "{{odd}}"))
    assert "begins an expression" in told["error"]["message"]
    assert not (tmp_path / "job").exists()
