"""Each failed check of doctor has a message that explains a fix, and the fix works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import time

import pytest

from callboard.transport.instances import Instance, announce
from callboard_programs.cli import doctor_command, main
from needed import missing

Wrong = Callable[[], list[str]]


@pytest.fixture
def wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Wrong:
    """Return a function that returns the messages from doctor's failed checks."""
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path)

    def ask() -> list[str]:
        capfd.readouterr()
        code = main(["doctor", "--json"])
        rows = json.loads(capfd.readouterr().out)
        lines = [row["message"] for row in rows if not row["ok"]]
        assert code == bool(lines)
        of_this_machine = ("bpy is installed, but ",) if missing("bpy") else ()
        return [line for line in lines if not line.startswith(of_this_machine)]

    return ask


def test_a_skill_that_is_wrong(
    wrong: Wrong, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my skills" / "shots"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: shots\n---\n")
    monkeypatch.setenv("CALLBOARD_SKILL_PATHS", str(folder.parent))
    (line,) = wrong()
    assert line.startswith("skill shots, SKILL.md")
    assert line.endswith(f"; fix it, then `callboard lint '{folder}'`")
    (folder / "SKILL.md").write_text("---\nname: shots\ndescription: Tells of shots.\n---\n")
    assert wrong() == []


def test_a_bundle_whose_program_is_missing(wrong: Wrong, tmp_path: Path) -> None:
    main(["new-bundle", "shot-notes"])
    manifest = tmp_path / "shot-notes" / "manifest.json"
    text = manifest.read_text("utf-8")
    manifest.write_text(
        text.replace('"command": "python"', '"command": "no-such-program"'), "utf-8"
    )
    main(["install-skill", "shot-notes", "--no-start"])
    (line,) = wrong()
    assert "'no-such-program'" in line
    assert line.endswith("PATH: install it; or `callboard uninstall-skill shot-notes`")
    assert main(["uninstall-skill", "shot-notes"]) == 0
    assert wrong() == []


@pytest.mark.parametrize(
    ("variable", "value", "mend"),
    [
        ("CALLBOARD_SETTINGS", "gone.yaml", "there is no such file; correct or unset it"),
        ("CALLBOARD_SETTINGS", "list.yaml", "such as `port: 8765`"),
        ("CALLBOARD_SITE", "gone", "mount it, correct the variable, or unset it"),
        ("CALLBOARD_PROJECT", "/a", "letters, digits, '_', '.' and '-'"),
        ("CALLBOARD_PORT", "high", "CALLBOARD_PORT must be a port, 0 to 65535"),
        ("CALLBOARD_SKILL_PATHS", "gone", "does not exist; correct CALLBOARD_SKILL_PATHS"),
        ("CALLBOARD_SKILL_PATHS", "home", "name a skill's folder, or the one right above it"),
    ],
)
def test_what_a_variable_says_wrongly(
    variable: str, value: str, mend: str, wrong: Wrong, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "list.yaml").write_text("- port")
    monkeypatch.setenv(variable, value if value in ("/a", "high") else str(tmp_path / value))
    (line,) = wrong()
    assert mend in line


def test_an_instance_that_is_silent(wrong: Wrong) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        announce(
            Instance("ab12", "maya", "Maya", "http://127.0.0.1:9/mcp", "x", process.pid, time())
        )
        (line,) = wrong()
        assert line == (
            f"Maya (pid {process.pid}) is running but does not answer: look at its window for a "
            "dialog, or end it"
        )
        process.communicate(b"\n")
    assert wrong() == []


def test_a_folder_of_instances_that_is_none(wrong: Wrong, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "instances"
    folder.touch()
    assert wrong() == [f"{folder} isn't a folder, so running instances can't be found: remove it"]
    folder.unlink()
    assert wrong() == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has access lists instead of modes")
def test_a_folder_of_tokens_that_others_read(wrong: Wrong, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "instances"
    folder.mkdir(mode=0o755)
    (line,) = wrong()
    _, _, mend = line.rpartition(": ")
    subprocess.run(mend, shell=True, check=True)
    assert wrong() == []


def test_a_variable_that_is_misspelt(
    wrong: Wrong, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALLBOARD_SKILL_PATH", "/studio/skills")
    line = "nothing reads the environment variable CALLBOARD_SKILL_PATH"
    assert wrong() == [f"{line}; did you mean CALLBOARD_SKILL_PATHS?"]
    assert main(["doctor", "--settings"]) == 1
    assert f"WRONG {line}" in capfd.readouterr().out
    monkeypatch.delenv("CALLBOARD_SKILL_PATH")
    monkeypatch.setenv("CALLBOARD_OF_THE_STUDIO", "1")  # a studio's own program may use it
    assert wrong() == []


@pytest.mark.parametrize(("there", "told"), [(["pxr"], []), ([], ["pxr", "bpy"])])
def test_a_host_that_is_missing_is_told_of_where_no_other_is_served(
    there: list[str], told: list[str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_command, "find_spec", lambda name: name in there or None)
    lines = [line for _, line in doctor_command.findings() if "only needed for" in line]
    assert [line.partition(" ")[0] for line in lines] == told


def test_a_package_goes_only_into_an_installation_of_ones_own(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pxr() -> str:
        return next(line for _, line in doctor_command.findings() if line.startswith("pxr is not"))

    monkeypatch.setattr(doctor_command, "find_spec", lambda name: None)
    monkeypatch.setattr(os, "access", lambda path, mode: True)
    assert "-m pip install" in pxr()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert pxr().endswith(f": ask the person who maintains {sys.prefix} to install it")


def test_a_home_in_which_nothing_can_be_kept(wrong: Wrong, tmp_path: Path) -> None:
    (tmp_path / "home" / "records").write_text("a file where the folder should be")
    (tmp_path / "home" / "settings.yaml").write_text("records: required\nrecords_to: [nowhere]\n")
    first, second = wrong()
    assert first.startswith(f"records can't be kept in {tmp_path / 'home' / 'records'} (")
    assert first.endswith(
        "set CALLBOARD_HOME to a folder on a local disk; calls are refused until then"
    )
    assert second.startswith("records are not sent: 'nowhere' isn't an address for records; write ")
    (tmp_path / "home" / "records").unlink()
    logs = tmp_path / "home" / "logs"
    logs.write_text("a file where the folder should be")
    (tmp_path / "home" / "settings.yaml").write_text("records_to: [syslog://127.0.0.1]\n")
    (third,) = wrong()
    assert third.startswith(f"logs can't be kept in {logs}: have the owner")
    logs.unlink()
    assert wrong() == []
