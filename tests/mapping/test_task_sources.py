"""The tasks of a farm's run, and the results that it keeps for the next run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callboard.errors import PeerError, SkillError
from callboard.mapping.task_sources import tasks_over
from callboard.mapping.tasks import TaskResult
from callboard_programs.cli import main
from callboard_programs.farm.artefacts import artefacts_of, sha256
from callboard_programs.farm.orders import RunOwner, Work
from callboard_programs.farm.report_file import ReportFile


def orders(work: Work, *over: str) -> list[object]:
    return [work.order(task, "key")["arguments"] for task in tasks_over(over)]


def test_frames_and_rows_fill_the_arguments(tmp_path: Path) -> None:
    work = Work("render__still", {"frame": "{frame}", "path": "out.{frame}.png"}, [])
    assert orders(work, "9,1-5x2,3") == [
        {"frame": frame, "path": f"out.{frame}.png"} for frame in (9, 1, 3, 5)
    ]
    table = tmp_path / "shots.csv"
    table.write_text('\ufeffshot,note\nsc010,"a, b"\nsc020,{file}\n', encoding="utf-8")
    work = Work("studio_stamp__stamp", {"shot": "{shot}", "note": "{note} {nobody}"}, [])
    assert orders(work, str(table)) == [
        {"shot": "sc010", "note": "a, b {nobody}"},
        {"shot": "sc020", "note": "{file} {nobody}"},
    ]
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"size": 2}\n\n{"size": 3}\n')
    assert orders(Work("scene__create_primitive", {}, []), str(rows)) == [
        {"size": 2},
        {"size": 3},
    ]
    release = Work("studio-publish.release", {"n": "{frame}"}, [])
    assert release.order(tasks_over(["7"])[0], "key") == {
        "key": "key",
        "tool": "workflows__run",
        "arguments": {"name": "studio-publish.release", "inputs": {"n": 7}},
        "scene": None,
        "save": False,
        "timeout": None,
        "skills": {},
    }


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.csv", "x,y\n1\n", "line 2 has more or fewer"),
        ("a.csv", "x\n", "no rows"),
        ("a.csv", 'x\n"1', "can't be read"),
        ("a.jsonl", "[1]\n", "line 1 is not a JSON object"),
        ("a.jsonl", "{}\n" + "[" * 100_000, "a.jsonl"),
        ("a.jsonl", "\x00\xff", "can't be read"),
    ],
)
def test_a_table_that_is_none_is_told(tmp_path: Path, name: str, text: str, why: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(PeerError, match=why):
        tasks_over([str(path)])


def test_a_pattern_of_tables_is_files_and_no_table(tmp_path: Path) -> None:
    tables = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for table in tables:
        table.write_text("name\nlamp\n")
    over = tasks_over([str(tmp_path / "*.csv")])
    assert [(task.file, task.values) for task in over] == [(str(each), {}) for each in tables]


def test_a_column_may_be_the_scene(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    scene = tmp_path / "a.usda"
    rows.write_text(f'{{"from": {json.dumps(str(scene))}, "size": 2}}\n{{"size": 3}}\n')
    work = Work("scene__create_primitive", {}, [], asker=RunOwner("agent", "1", "ann", "7"))
    first, second = (work.order(task, task.key) for task in tasks_over([str(rows)], "from"))
    assert (first["scene"], first["arguments"]) == (str(scene), {"size": 2})
    assert (second["scene"], second["arguments"]) == (None, {"size": 3})
    assert first["key"] != second["key"]
    assert first["asker"] == ["agent", "1", "ann", "7"]
    rows.write_text('{"from": 1}\n')
    with pytest.raises(PeerError, match="row 1"):
        tasks_over([str(rows)], "from")


@pytest.mark.parametrize("frames", ["5-1", "1-9x0"])
def test_frames_that_are_none_are_told(frames: str) -> None:
    with pytest.raises(PeerError, match="--over"):
        tasks_over([frames])


def test_a_key_stays_a_tasks_own_wherever_it_stands(tmp_path: Path) -> None:
    table = tmp_path / "a.jsonl"
    table.write_text('{"n": 1}\n{"n": 1}\n{"n": 2}\n')
    before = {task.key for task in tasks_over([str(table)])}
    table.write_text('{"n": 2}\n{"n": 3}\n{"n": 1}\n{"n": 1}\n')
    after = [task.key for task in tasks_over([str(table)])]
    assert len(before) == 3
    assert set(after) - before == {after[1]}


def test_a_task_whose_artefact_changed_is_not_done(tmp_path: Path) -> None:
    report = ReportFile(tmp_path / "report.jsonl", {"tool": "t"})
    report.open([])
    tasks = tasks_over(["1-3"])
    for task in tasks:
        path = tmp_path / f"{task.index}.png"
        path.write_text("picture")
        made = artefacts_of({"path": str(path), "text": "no file", "folder": str(tmp_path)}, 0.0)
        assert made == {str(path): sha256(str(path))}
        report.add(TaskResult(task.index, "", "done", {}, 1, "", task.key, made))
    report.close({"event": "finished", "done": 3, "failed": 0})
    (tmp_path / "0.png").write_text("another")
    (tmp_path / "1.png").unlink()
    again = ReportFile(tmp_path / "report.jsonl", {"tool": "t"})
    assert [result.index for result in again.kept(tasks)] == [2]


@pytest.mark.parametrize("address", ["tcp://[", "tcp://127.0.0.1", "127.0.0.1:8786", "tcp://:1"])
def test_what_is_no_schedulers_address_is_told(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["worker"], ["run", "scene__scene_info", "--over", "1"]):
        assert main(["farm", *words, "--scheduler", address]) != 0
        assert f"{address} isn't a scheduler's address; give one like" in capsys.readouterr().err


def test_a_scheduler_by_tls_needs_certificates(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["worker"], ["run", "scene__scene_info", "--over", "1"]):
        assert main(["farm", *words, "--scheduler", "tls://127.0.0.1:8786"]) != 0
        assert "give --tls-ca, --tls-cert and --tls-key" in capsys.readouterr().err


def test_an_empty_file_is_no_result(tmp_path: Path) -> None:
    path = tmp_path / "frame.exr"
    path.write_bytes(b"")
    with pytest.raises(SkillError, match="was written but is empty"):
        artefacts_of({"path": str(path)}, 0.0)


def test_a_farm_that_others_reach_needs_certificates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (
        ["local", "--listen", "0.0.0.0"],
        ["worker", "--scheduler", "tcp://10.0.0.4:8786"],
        ["run", "scene__scene_info", "--over", "1", "--scheduler", "tcp://[2001:db8::1]:8786"],
    ):
        assert main(["farm", *words]) != 0
        assert "--tls-ca" in capsys.readouterr().err
    assert main(["farm", "local", "--tls-ca", str(tmp_path / "ca.pem")]) == 1
    assert "all three" in capsys.readouterr().err
