"""Every failure appears in the answer, the log, the log file and the records."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.calls.recent_log import failed_calls
from callboard.records.log_file import RECORD_LIMIT, ROTATE, LogFile
from callboard.records.redaction import Redactor
from callboard_programs.cli import main
from serving import Served, served, text_of

SKILL = """\
---
name: studio-publish
description: Publishes.
metadata: {dcc-mcp: {tools: tools.yaml}}
---
"""
COMMON = """\
import json


def read(text):
    return json.loads(text)
"""
SCRIPT = """\
from _common import read


def publish(ctx, text):
    print("about to read")
    ctx.log("warning", "nothing was checked")
    return read(text)
"""
TRACED = 'File "studio-publish/scripts/_common.py", line 5, in read'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@contextmanager
def publishing(
    tmp_path: Path, place: str = "studio-publish", skill: str = SKILL
) -> Iterator[Served]:
    folder = tmp_path / "skills" / place
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(skill)
    (folder / "tools.yaml").write_text("tools:\n  - {name: publish, description: Publishes.}\n")
    (folder / "scripts" / "_common.py").write_text(COMMON)
    (folder / "scripts" / "publish.py").write_text(SCRIPT)
    paths = [folder.parent]
    with served(skills=True, skill_paths=paths, records=True, announce=True) as running:
        yield running


def fail(server: Served) -> dict[str, Any]:
    with server.client() as client:
        result: dict[str, Any] = client.call("studio_publish__publish", {"text": "no JSON"})
    assert result["isError"] is True
    return result


def test_the_answer_names_files_from_the_skill_on_and_folds_pythons_own(tmp_path: Path) -> None:
    with publishing(tmp_path) as server:
        result = fail(server)
        text = text_of(result)
        assert TRACED in text
        assert "in Python's own: __init__.py, decoder.py]" in text
        assert "raw_decode" not in text
        assert result["_meta"]["callboard/stdout"] == "about to read\n"


def test_the_log_and_its_file_hold_the_traceback(tmp_path: Path, home: Path) -> None:
    with publishing(tmp_path) as server:
        id = fail(server)["_meta"]["callboard/call"]
        with server.client() as client:
            recent = client.request("resources/read", {"uri": "log://recent"})
        entries = json.loads(recent["result"]["contents"][0]["text"])
        (entry,) = [one for one in entries if id in one["message"]]
        assert (entry["level"], TRACED in entry["message"]) == ("error", True)
        (file,) = (home / "logs").iterdir()
        assert id in file.read_text("utf-8")
        assert TRACED in file.read_text("utf-8")
        if os.name == "posix":
            assert file.stat().st_mode & 0o777 == 0o600


def test_one_call_is_shown_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with publishing(tmp_path) as server:
        id = fail(server)["_meta"]["callboard/call"]
        assert main(["report", "--call", id]) == 0
        shown = capsys.readouterr().out
        assert "studio_publish__publish" in shown
        assert TRACED in shown
        assert "stdout:\nabout to read" in shown
        assert main(["report", "--call", id, "--json"]) == 0
        assert TRACED in json.loads(capsys.readouterr().out)["result"]["traceback"]
        assert main(["report", "--call", "none"]) != 0
        assert "callboard/call" in capsys.readouterr().err


def test_the_command_line_hears_prints_and_logs(tmp_path: Path) -> None:
    with publishing(tmp_path):
        given = json.dumps({"text": "no JSON"})
        done = subprocess.run(
            [sys.executable, "-m", "callboard", "call", "studio_publish__publish", "--json", given],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 1
        for told in (TRACED, "about to read", "warning: nothing was checked", "report --call "):
            assert told in done.stderr


def test_a_script_that_cant_be_imported_tells_where(tmp_path: Path) -> None:
    with publishing(tmp_path) as server:
        script = tmp_path / "skills" / "studio-publish" / "scripts" / "_common.py"
        script.write_text("import json\n\nx = json.loads('{')\n")
        assert 'File "studio-publish/scripts/_common.py", line 3' in text_of(fail(server))


def test_a_script_that_is_no_python_tells_where_without_the_machines_folders(
    tmp_path: Path,
) -> None:
    with publishing(tmp_path) as server:
        script = tmp_path / "skills" / "studio-publish" / "scripts" / "_common.py"
        script.write_text("x = (\n")
        text = text_of(fail(server))
        assert 'File "studio-publish/scripts/_common.py", line 1' in text
        assert str(tmp_path) not in text


def test_a_folder_called_by_a_version_is_told_with_the_skills_name(tmp_path: Path) -> None:
    with publishing(tmp_path, "studio-publish/1.4.0") as server:
        assert 'File "studio-publish/1.4.0/scripts/_common.py", line 5' in text_of(fail(server))


@pytest.mark.parametrize(
    "named",
    ["studio-publish", '"studio-publish"', "studio-publish  # ours"],
    ids=["plain", "quoted", "commented"],
)
def test_any_other_folder_is_told_by_the_skills_name(tmp_path: Path, named: str) -> None:
    with publishing(tmp_path, "0.1.0", SKILL.replace("studio-publish", named)) as server:
        assert TRACED in text_of(fail(server))


def test_no_message_looks_like_a_record_of_its_own_and_no_secret_is_kept(tmp_path: Path) -> None:
    file = LogFile("host", lambda text: text.replace("hunter2", "***"), tmp_path)
    file.attach()
    try:
        failed_calls.error(
            "%s", "password hunter2\n2026-01-01 00:00:00Z ERROR callboard: forged\x1b"
        )
    finally:
        file.detach()
    first, second = file.path.read_text("utf-8").splitlines()
    assert first.endswith("ERROR callboard.failed_calls: password ***")
    assert second.startswith("    2026")
    assert "\x1b" not in second


def test_the_file_stays_small_and_a_full_disk_costs_nothing(tmp_path: Path) -> None:
    file = LogFile("host", str, tmp_path)
    record = logging.makeLogRecord({"msg": "x" * 10_000, "levelno": logging.ERROR})
    for _ in range(2 * ROTATE // 10_000 + 20):
        file.emit(record)
    assert sum(one.stat().st_size for one in tmp_path.iterdir()) < 2.1 * ROTATE
    (tmp_path / "a file").write_text("")
    LogFile("host", str, tmp_path / "a file").emit(record)


def test_no_half_of_a_secret_is_kept_at_the_end_of_a_long_record(tmp_path: Path) -> None:
    file = LogFile("host", Redactor().text, tmp_path)
    for before in range(20, 80, 5):
        text = "x " * (RECORD_LIMIT // 2 - before // 2) + "sk-" + "a" * 60
        file.emit(logging.makeLogRecord({"msg": text, "levelno": logging.ERROR, "name": ""}))
    assert "sk-a" not in file.path.read_text("utf-8")


def test_without_a_server_a_failure_is_not_printed() -> None:
    code = "from callboard.calls.recent_log import failed_calls as log; log.error('unheard')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
