"""``callboard batch`` and ``callboard run`` call one tool on many scenes, even if hosts crash."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from callboard.errors import HostError
from callboard.mapping.tasks import Task, TaskResult, unfilled
from callboard.transport.instances import listed
from callboard_programs.cli import main
from callboard_programs.farm.report_file import ReportFile
from callboard_programs.farm.warm_host import WarmHost
from e2e.serving import callboard, environment
from needed import need
from shots import Shots

need("pxr")
pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(tmp_path / "home").items():
        monkeypatch.setenv(name, value)


class BatchShots(Shots):
    """Shots, and the commands that run over them."""

    def command(self, command: str, *options: str) -> list[str]:
        return callboard(command, *self.called, *self.skills, *options)

    @property
    def batch(self) -> list[str]:
        return self.command("batch", "--each", self.scenes, "-j", "2", "--report", str(self.report))


def test_a_killed_worker_loses_nothing_and_a_failure_is_one_files(tmp_path: Path) -> None:
    shots = BatchShots(tmp_path, 5)
    (tmp_path / "sc01.killed").touch()
    (tmp_path / "sc03.bad").write_text("sc03 has no camera")
    *lines, finished = shots.printed(shots.batch, status=1)
    assert finished == {"event": "finished", "done": 4, "failed": 1}
    results = {Path(line["file"]).stem: line for line in lines}
    assert results["sc01"]["attempts"] == 2
    assert results["sc03"]["error"]["kind"] == "failed"
    assert "sc03 has no camera" in results["sc03"]["error"]["message"]
    for stem in ("sc00", "sc01", "sc02", "sc04"):
        assert results[stem]["result"]["names"] == [f"/{stem}"]
    kept = [json.loads(line) for line in shots.report.read_text().splitlines()]
    assert [line["index"] for line in kept[1:-1]] == [0, 1, 2, 3, 4]

    (tmp_path / "sc03.bad").unlink()
    (tmp_path / "sc04.usda").write_text('#usda 1.0\ndef Cube "box" {}\n')
    before = len(shots.visits())
    *lines, finished = shots.printed([*shots.batch, "-j", "1"])
    assert finished == {"event": "finished", "done": 5, "failed": 0}
    assert sorted(name for name, _ in shots.visits()[before:]) == ["sc03", "sc04"]
    looked = {Path(line["file"]).stem: line["result"]["names"] for line in lines}
    assert looked["sc04"] == ["/box"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_an_answer_that_says_no_counts_as_a_failure_where_it_is_asked_for(tmp_path: Path) -> None:
    shots = BatchShots(tmp_path, 2)
    command = [*shots.batch, "--fail-on", 'names=["/sc01"]', "--fail-on", "passed=false"]
    *lines, finished = shots.printed(command, status=1)
    assert finished == {"event": "finished", "done": 1, "failed": 1}
    (failed,) = [line for line in lines if line["status"] == "failed"]
    assert failed["error"]["message"] == 'the tool\'s answer has names=["/sc01"]'
    assert failed["error"]["result"]["names"] == ["/sc01"]


def test_a_killed_batch_is_resumed_and_leaves_no_host_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    shots = BatchShots(tmp_path, 6)
    with subprocess.Popen(
        shots.batch, env=environment(tmp_path / "home"), stdout=subprocess.PIPE
    ) as batch:
        assert batch.stdout is not None
        first = json.loads(batch.stdout.readline())
        assert listed() == []  # the batch's hosts aren't announced
        batch.send_signal(signal.SIGKILL)
        batch.wait(30)
        acknowledged = {Path(first["file"]).stem}
        acknowledged |= {Path(json.loads(line)["file"]).stem for line in batch.stdout}
    shots.none_runs()
    *_, finished = shots.printed([*shots.batch, "-j", "1"])
    assert finished == {"event": "finished", "done": 6, "failed": 0}
    began = Counter(name for name, _ in shots.visits())
    assert len(began) == 6
    assert {name for name in acknowledged if began[name] > 1} == set()


def program(path: Path, lines: str) -> str:
    """Write a program that stands in for a host's Python."""
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o700)
    return str(path)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
@pytest.mark.usefixtures("home")
def test_where_one_host_does_not_start_the_others_do_its_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = f'mkdir "{tmp_path}/first" 2>/dev/null && echo "no licence is left" >&2 && exit 3'
    python = program(tmp_path / "python", f'{first}\nexec "{sys.executable}" "$@"')
    command = BatchShots(tmp_path, 3).batch
    monkeypatch.setattr(sys, "executable", python)
    assert main(command[3:]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out.splitlines()[-1]) == {"event": "finished", "done": 3, "failed": 0}
    assert "a host didn't start, the others continue" in told.err
    assert "no licence is left" in told.err


@pytest.mark.usefixtures("home")
def test_what_a_tool_changed_and_nobody_saves_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.usda").write_text("#usda 1.0\n")
    given = ["--each", str(tmp_path / "*.usda"), "--json", '{"kind": "cube"}']
    assert main(["batch", "scene__create_primitive", *given]) == 0
    assert capsys.readouterr().err.count("add --save, which saves each scene") == 1


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
@pytest.mark.parametrize("line", ["hello", '{"event": "ready"}', '["url"]'])
def test_a_host_that_says_something_else_first_is_ended_and_quoted(
    tmp_path: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", program(tmp_path / "python", f"echo '{line}'; cat"))
    with (
        pytest.raises(HostError, match="instead of reporting that it is ready") as raised,
        WarmHost([]),
    ):
        pass
    assert line in raised.value.message


def test_one_tool_on_one_scene(tmp_path: Path) -> None:
    scene = tmp_path / "shot.usda"
    scene.write_text("#usda 1.0\n")
    command = [sys.executable, "-m", "callboard", "run", "scene__create_primitive", "--save"]
    command += ["--scene", str(scene), "--json", '{"kind": "sphere", "name": "ball"}']
    done = subprocess.run(command, env=environment(tmp_path / "home"), capture_output=True)
    assert json.loads(done.stdout)["object"]["name"] == "ball", done.stderr.decode()
    assert 'def Sphere "ball"' in scene.read_text()


@pytest.mark.usefixtures("home")
def test_a_tool_that_is_not_there_ends_the_batch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The batch must fail once, not for each of twenty thousand files."""
    (tmp_path / "a.usda").write_text("#usda 1.0\n")
    (tmp_path / "b.usda").write_text("#usda 1.0\n")
    assert main(["batch", "scene__scene_inof", "--each", str(tmp_path / "*.usda")]) == 2
    told = capsys.readouterr()
    assert "unknown tool 'scene__scene_inof'; nearest: scene__scene_info" in told.err
    assert "a skill of your own" not in told.err  # the named skill exists
    assert json.loads(told.out)["error"]["kind"] == "wrong"
    assert main(["batch", "quux__frobnicate", "--each", str(tmp_path / "*.usda")]) == 2
    assert "For a skill of your own, give --skills DIR" in capsys.readouterr().err


def test_what_can_not_be_meant_starts_no_host(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shots = BatchShots(tmp_path, 1)
    nothing = shots.command("batch", "--each", str(tmp_path / "*.blend"))
    assert main(nothing[3:]) == 2
    assert "no file matches" in capsys.readouterr().err
    shots.report.write_text("my shopping list\n")
    assert main(shots.batch[3:]) == 2
    assert "report of a run with a different tool" in capsys.readouterr().err
    assert shots.report.read_text() == "my shopping list\n"


@pytest.mark.parametrize(
    ("option", "value"),
    [("--timeout", "inf"), ("--timeout", "nan"), ("--timeout", "-1"), ("--retries", "-1")],
)
def test_numbers_that_cannot_be_meant_are_refused(
    tmp_path: Path, option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = BatchShots(tmp_path, 1).command("batch", "--each", str(tmp_path / "*.blend"))
    with pytest.raises(SystemExit) as ended:
        main([*command[3:], f"{option}={value}"])
    assert ended.value.code == 2
    assert option in capsys.readouterr().err


def test_a_report_that_can_not_be_written_on_says_so(tmp_path: Path) -> None:
    need("resource")
    import resource

    path = tmp_path / "out.jsonl"
    report = ReportFile(path, {})
    report.open([])
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, most[1]))
    try:
        with pytest.raises(HostError, match="can't be written"):
            report.add(TaskResult(0, "/a", "done", 1, 1, "gone"))
        with pytest.raises(HostError, match="can't be written"):
            report.close({})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)


def test_a_report_in_which_nothing_was_done_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    begun = ReportFile(path, {"tool": "scene__infp"})
    begun.open([])
    begun.close({})
    assert ReportFile(path, {"tool": "scene__info"}).kept([Task(0, "/a")]) == []


def test_words_that_are_not_the_files_are_told() -> None:
    given = {"shot": "{name} {stem}", "to": ["{folder}/{stem}", "{{inputs.a}} {a b} {name}"]}
    assert unfilled(given) == ["name"]


@pytest.mark.parametrize(
    "line",
    [
        '{"status": "done", "file": ["/a"]}',
        '{"status": "done", "file": "/a", "result": 1, "attempts": "x", "stamp": "gone"}',
        "[" * 100_000,
    ],
    ids=range(3),
)
def test_a_line_that_no_batch_wrote_is_passed_over(tmp_path: Path, line: str) -> None:
    path = tmp_path / "out.jsonl"
    whole = {"status": "done", "file": "/b", "result": 2, "attempts": 1, "stamp": "gone"}
    path.write_text("\n".join(['{"event": "begun"}', line, json.dumps(whole)]))
    kept = ReportFile(path, {}).kept([Task(0, "/a"), Task(1, "/b")])
    assert [(result.file, result.value) for result in kept] == [("/b", 2)]
