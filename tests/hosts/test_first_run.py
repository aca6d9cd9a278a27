"""The first run inside an application, on its double. It leaves only a report."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from hosts.first_run import run
from needed import need

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
DOUBLES = HERE / "doubles"


def an_archive(path: Path, host: str) -> Path:
    """Make an archive as packaging does, without third-party parts."""
    with zipfile.ZipFile(path, "w") as packed:
        for root, names in (("core", ("callboard",)), ("hosts", (host, "callboard_qt"))):
            for name in names:
                for file in sorted((PROJECT / root / name).rglob("*")):
                    if file.is_file() and "__pycache__" not in file.parts:
                        packed.write(file, f"any/python/{file.relative_to(PROJECT / root)}")
    return path


@pytest.mark.slow
@pytest.mark.timeout(930)  # The first run may take as long as its process.
@pytest.mark.parametrize(
    ("script", "kind", "host", "double"),
    [
        ("first_run_maya.py", "maya", "callboard_maya", DOUBLES),
        ("first_run_houdini.py", "houdini", "callboard_houdini", DOUBLES / "houdini"),
        ("first_run_3dsmax.py", "3dsmax", "callboard_max", DOUBLES / "max"),
    ],
)
def test_it_reports_and_leaves_nothing(
    script: str, kind: str, host: str, double: Path, tmp_path: Path
) -> None:
    need("pxr")
    folder, temporary = tmp_path / "run", tmp_path / "tmp"
    home = tmp_path / "home"
    for each in (folder, temporary, home):
        each.mkdir()
    archive = an_archive(tmp_path / "callboard.zip", host)
    environment = {key: os.environ[key] for key in ("PATH", "SYSTEMROOT") if key in os.environ}
    # Files next to the script, as on a user's machine.
    beside = tmp_path / "beside"
    for name in ("callboard_programs", "callboard_testing"):
        shutil.copytree(PROJECT / "core" / name, beside / name)
    # Houdini's double shares modules with Maya's, which are in the folder next to it.
    environment |= {"PYTHONPATH": os.pathsep.join(map(str, (double, DOUBLES, beside)))}
    environment |= {"CALLBOARD_ARCHIVE": str(archive)}
    environment |= {"HOME": str(home), "TMPDIR": str(temporary), "TEMP": str(temporary)}
    # The project itself isn't importable: everything comes from the archive.
    code = (
        "import sys, runpy; sys.meta_path = [f for f in sys.meta_path if 'editable' not in "
        f"getattr(f, '__name__', '').lower()]; sys.argv = [{str(HERE / script)!r}, "
        f"{str(archive)!r}]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    report = json.loads((folder / f"callboard-first-run-{kind}.json").read_text("utf-8"))
    assert done.returncode == 0, report.get("broke") or report["failed"] or report["served"]
    assert report["outcomes"]["ok"] > 50
    assert report["served"] == "ok"
    assert not [seen for seen in report["probes"].values() if "Error" in seen], report["probes"]
    # USD is tested, although its plug-in wasn't loaded before.
    assert not [check for check, why in report["skipped"].items() if " usd" in why]
    assert report["left_behind"] == []
    assert [one.name for one in folder.iterdir()] == [f"callboard-first-run-{kind}.json"]
    assert list(temporary.iterdir()) == []
    assert list(home.iterdir()) == []
    assert str(tmp_path) not in json.dumps(report)


@pytest.mark.parametrize("archive", ["", "callboard-maya-VERSION.zip"])
def test_without_the_archive_it_says_what_to_do_and_writes_nothing(
    archive: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("maya", archive, lambda: "none", {}) == 2
    assert "give its whole name" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_the_report_lies_beside_the_archive_where_the_application_stands_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied, elsewhere = tmp_path / "copied", tmp_path / "elsewhere"
    copied.mkdir()
    elsewhere.mkdir()
    shutil.copy(HERE / "first_run.py", copied)
    (copied / "empty.zip").write_bytes(b"PK\5\6" + bytes(18))
    monkeypatch.chdir(elsewhere)
    assert runpy.run_path(str(copied / "first_run.py"))["run"](
        "3dsmax", "empty.zip", lambda: "none", {}
    )
    report = json.loads((copied / "callboard-first-run-3dsmax.json").read_text("utf-8"))
    assert "isn't an archive made by packaging/build.py" in report["broke"]
    assert list(elsewhere.iterdir()) == []
