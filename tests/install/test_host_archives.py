"""``callboard install maya|houdini|3dsmax``: the folders that it writes to, and the files that it
leaves alone."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard_programs.cli import main
from callboard_programs.install.placed_files import RECEIPT

#: The content of each host's archive in these tests.
ARCHIVES = {
    "maya": {
        "callboard.mod": "+ callboard 1 ./callboard",
        "callboard/plug-ins/callboard_plugin.py": "one",
        "callboard/python/callboard/__init__.py": "two",
    },
    "houdini": {
        "packages/callboard.json": "{}",
        "packages/callboard/python/callboard/__init__.py": "two",
    },
    "3dsmax": {
        "callboard/PackageContents.xml": "<ApplicationPackage/>",
        "callboard/Contents/python/callboard/__init__.py": "two",
    },
}
HOSTS = list(ARCHIVES)
#: The folder of an installed archive, below the folder that --dir names.
BELOW = {"maya": "modules", "houdini": ".", "3dsmax": "."}

Archive = Callable[..., Path]
Run = Callable[..., str]


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    def write(files: dict[str, str], name: str = "some.zip") -> Path:
        with zipfile.ZipFile(tmp_path / name, "w") as opened:
            for each, text in files.items():
                opened.writestr(each, text)
        return tmp_path / name

    return write


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str | Path, code: int = 0) -> str:
        exit_code = main([str(each) for each in arguments])
        printed = capsys.readouterr()
        assert exit_code == code, printed
        return printed.err if code else printed.out

    return call


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a user's home, on Linux."""
    for name in (
        *("MAYA_APP_DIR", "HOUDINI_USER_PREF_DIR", "APPDATA"),
        *("XDG_DOCUMENTS_DIR", "XDG_CONFIG_HOME"),
        *("OneDrive", "OneDriveCommercial", "OneDriveConsumer"),
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setattr(sys, "platform", "linux")
    return tmp_path / "home"


def texts(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*")
        if path.is_file() and path.name != RECEIPT
    }


# -- written files, and files that are left alone --------------------------------------------------


@pytest.mark.parametrize("host", HOSTS)
def test_in_and_out_again(host: str, archive: Archive, run: Run, tmp_path: Path) -> None:
    user = tmp_path / "user"
    place = user / BELOW[host]
    chosen = ("--dir", user, "--archive", archive(ARCHIVES[host]))
    assert "would write" in run("install", host, *chosen, "--dry-run")
    assert not user.exists()
    assert f"({len(ARCHIVES[host])} files)" in run("install", host, *chosen)
    assert texts(place) == ARCHIVES[host]
    assert run("install", host, *chosen) == "nothing to do\n"
    assert "would remove" in run("uninstall", host, "--dir", user, "--dry-run")
    assert texts(place) == ARCHIVES[host]
    assert "remove" in run("uninstall", host, "--dir", user)
    assert texts(user) == {}
    assert list(user.rglob("*callboard*")) == []
    assert run("uninstall", host, "--dir", user) == "nothing to do\n"


@pytest.mark.parametrize("host", HOSTS)
def test_others_files_are_kept(host: str, archive: Archive, run: Run, tmp_path: Path) -> None:
    place = tmp_path / "user" / BELOW[host]
    theirs = {"other.mod": "theirs", "packages/other.json": "theirs", "other/a.py": "theirs"}
    for name, text in theirs.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    run("install", host, "--dir", tmp_path / "user", "--archive", archive(ARCHIVES[host]))
    assert texts(place) == {**theirs, **ARCHIVES[host]}
    run("uninstall", host, "--dir", tmp_path / "user")
    assert texts(place) == theirs


@pytest.mark.parametrize("host", HOSTS)
def test_what_has_our_name_but_is_not_ours_stops_it(
    host: str, archive: Archive, run: Run, tmp_path: Path
) -> None:
    place = tmp_path / "user" / BELOW[host]
    first = next(iter(ARCHIVES[host]))
    (place / first).parent.mkdir(parents=True)
    (place / first).write_text("theirs")
    chosen = archive(ARCHIVES[host])
    printed = run("install", host, "--dir", tmp_path / "user", "--archive", chosen, code=1)
    assert "was not written by callboard install" in printed
    run("uninstall", host, "--dir", tmp_path / "user")
    assert texts(place) == {first: "theirs"}


def test_a_new_version_takes_the_old_ones_place(archive: Archive, run: Run, tmp_path: Path) -> None:
    old, new = dict(ARCHIVES["maya"]), dict(ARCHIVES["maya"])
    old["callboard/python/gone.py"] = "gone"
    new["callboard.mod"] = "+ callboard 2 ./callboard"
    run("install", "maya", "--dir", tmp_path, "--archive", archive(old, "old.zip"))
    printed = run("install", "maya", "--dir", tmp_path, "--archive", archive(new, "new.zip"))
    assert printed.startswith("replace")
    assert texts(tmp_path / "modules") == new


def test_what_was_cut_short_is_finished_by_the_next_run(
    archive: Archive, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = dict(ARCHIVES["maya"]), dict.fromkeys(ARCHIVES["maya"], "new")
    run("install", "maya", "--dir", tmp_path, "--archive", archive(old, "old.zip"))
    chosen = ("--dir", tmp_path, "--archive", archive(new, "new.zip"))
    write = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if "callboard_plugin" in path.name:
            write(path, data[:1])
            raise OSError(28, "No space left on device", str(path))
        return write(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        assert "No space left" in run("install", "maya", *chosen, code=1)
    run("install", "maya", *chosen)
    assert texts(tmp_path / "modules") == new
    run("uninstall", "maya", "--dir", tmp_path)
    assert texts(tmp_path / "modules") == {}


def test_a_list_that_names_others_files_removes_none(
    archive: Archive, run: Run, tmp_path: Path
) -> None:
    run("install", "maya", "--dir", tmp_path, "--archive", archive(ARCHIVES["maya"]))
    other = tmp_path / "modules" / "other.mod"
    other.write_text("+ callboard 1 ./callboard")
    receipt = tmp_path / "modules" / "callboard" / RECEIPT
    listed = json.loads(receipt.read_text())
    digest = listed["callboard.mod"]
    receipt.write_text(json.dumps({**listed, "other.mod": digest, "a\0b": digest}))
    run("uninstall", "maya", "--dir", tmp_path)
    assert other.is_file()


# -- archives --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "callboard/../../.profile",
        "../callboard.mod",
        "/callboard/a",
        "callboard//a",
        "callboard\\..\\a",
        "callboard/C:/a",
    ],
)
def test_an_archive_that_leads_elsewhere_writes_nothing(
    name: str, archive: Archive, run: Run, tmp_path: Path
) -> None:
    chosen = archive({**ARCHIVES["maya"], name: "evil"})
    printed = run("install", "maya", "--dir", tmp_path / "user", "--archive", chosen, code=1)
    assert "contains a file with an unsafe path" in printed
    assert not (tmp_path / "user").exists()


@pytest.mark.parametrize("other", ["houdini", "3dsmax"])
def test_another_hosts_archive_is_refused(
    other: str, archive: Archive, run: Run, tmp_path: Path
) -> None:
    chosen = archive(ARCHIVES[other])
    printed = run("install", "maya", "--dir", tmp_path / "user", "--archive", chosen, code=1)
    assert "is not the archive for Maya" in printed
    assert not (tmp_path / "user").exists()


def test_what_is_no_archive_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "some.zip").write_text("no archive")
    chosen = ("--dir", tmp_path, "--archive")
    assert "can't read" in run("install", "maya", *chosen, tmp_path / "some.zip", code=1)
    assert "can't read" in run("install", "maya", *chosen, tmp_path / "none.zip", code=1)


# -- the folders of each host ----------------------------------------------------------------------


def folders(path: Path, *names: str) -> None:
    for name in names:
        (path / name).mkdir(parents=True)


def placed(path: Path) -> list[str]:
    return sorted(receipt.parent.relative_to(path).as_posix() for receipt in path.rglob(RECEIPT))


@pytest.mark.parametrize(
    ("platform", "user"),
    [
        ("linux", "maya"),
        ("darwin", "Library/Preferences/Autodesk/maya"),
        pytest.param(
            "win32",
            "Documents/maya",
            marks=pytest.mark.skipif(os.name == "nt", reason="the documents are the tester's own"),
        ),
    ],
)
def test_every_maya_that_was_started(
    platform: str,
    user: str,
    home: Path,
    archive: Archive,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    chosen = ("--archive", archive(ARCHIVES["maya"]))
    assert "no Maya 2024 or later" in run("install", "maya", *chosen, code=1)
    folders(home / user, "2022", "2024", "2026/prefs", "scripts", "projects")
    printed = run("install", "maya", *chosen)
    assert "Plug-in Manager" in printed
    assert placed(home) == [f"{user}/2024/modules/callboard", f"{user}/2026/modules/callboard"]
    run("uninstall", "maya")
    assert placed(home) == []


def test_maya_told_of_another_user_folder(
    home: Path, archive: Archive, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folders(home / "maya", "2025")
    folders(tmp_path / "studio", "2025")
    monkeypatch.setenv("MAYA_APP_DIR", str(tmp_path / "studio"))
    run("install", "maya", "--archive", archive(ARCHIVES["maya"]))
    assert placed(tmp_path) == ["studio/2025/modules/callboard"]


@pytest.mark.parametrize(
    ("platform", "told", "made", "expected"),
    [
        ("linux", None, ["houdini19.5", "houdini20.0", "houdini21.0"], ["20.0", "21.0"]),
        (
            "darwin",
            None,
            ["Library/Preferences/houdini/19.5", "Library/Preferences/houdini/20.5"],
            ["20.5"],
        ),
        ("win32", None, ["houdini20.5", "houdini19.5"], ["20.5"]),
        ("linux", "prefs/__HVER__/user", ["prefs/20.5/user", "prefs/19.0/user"], ["20.5/user"]),
        ("linux", "prefs/any", ["prefs/any"], ["any"]),
    ],
)
def test_every_houdini_that_was_started(
    platform: str,
    told: str | None,
    made: list[str],
    expected: list[str],
    home: Path,
    archive: Archive,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    if told is not None:
        monkeypatch.setenv("HOUDINI_USER_PREF_DIR", str(home / told))
    chosen = ("--archive", archive(ARCHIVES["houdini"]))
    assert "no Houdini 20.0 or later" in run("install", "houdini", *chosen, code=1)
    assert run("uninstall", "houdini") == "nothing to do\n"
    folders(home, *made)
    run("install", "houdini", *chosen)
    places = placed(home)
    assert len(places) == len(expected)
    for path, version in zip(places, expected, strict=True):
        assert path.endswith(f"{version}/packages/callboard")


@pytest.mark.parametrize("host", ["maya", "houdini"])
def test_on_windows_both_documents_folders_are_searched(
    host: str, home: Path, archive: Archive, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OneDrive has moved the documents folder, but some versions still use the old one."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("OneDrive", str(home / "OneDrive"))
    below = {"maya": "maya/2026", "houdini": "houdini21.0"}[host]
    folders(home / "Documents", below)
    folders(home / "OneDrive/Documents", below)
    run("install", host, "--archive", archive(ARCHIVES[host]))
    assert [path.split(below)[0] for path in placed(home)] == [
        "Documents/",
        "OneDrive/Documents/",
    ]
    run("uninstall", host)
    assert placed(home) == []


def test_3ds_max_has_one_folder_for_all_versions(
    home: Path, archive: Archive, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = ("--archive", archive(ARCHIVES["3dsmax"]))
    assert "--dir" in run("install", "3dsmax", *chosen, code=1)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("APPDATA", str(home / "Roaming"))
    run("install", "3dsmax", *chosen)
    assert placed(home) == ["Roaming/Autodesk/ApplicationPlugins/callboard"]
    run("uninstall", "3dsmax")
    assert placed(home) == []
