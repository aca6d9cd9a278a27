"""The program that a bundle's command starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from callboard.bundles.installed.programs import as_called_here

POSIX_PATHS = pytest.mark.skipif(sys.platform == "win32", reason="on Windows folders contain ':'")


def folder(at: Path, *programs: str) -> str:
    at.mkdir(parents=True)
    for name in programs:
        (at / name).touch(0o755)
    return str(at)


def on_windows(*folders: str) -> dict[str, str]:
    return {"PATH": ";".join(folders), "PATHEXT": ".COM;.EXE;.BAT;.CMD"}


def test_npx_is_started_by_its_whole_name(tmp_path: Path) -> None:
    nodejs = folder(tmp_path / "nodejs", "npx", "npx.cmd", "node.exe")
    environ = on_windows(nodejs)
    assert as_called_here(["npx", "-y", "x"], environ, windows=True) == [
        str(Path(nodejs, "npx.cmd")),
        "-y",
        "x",
    ]
    assert as_called_here(["node.exe"], environ, windows=True) == [str(Path(nodejs, "node.exe"))]


def test_an_alias_of_the_shop_is_no_python(tmp_path: Path) -> None:
    shop = folder(tmp_path / "Microsoft" / "WindowsApps", "python.exe", "python3.exe")
    real = folder(tmp_path / "Python311", "python.exe")
    environ = on_windows(shop, real)
    assert as_called_here(["python3", "-m", "x"], environ, windows=True)[0] == str(
        Path(real, "python.exe")
    )
    assert as_called_here(["python"], on_windows(shop), windows=True) == ["python"]


def test_neither_the_current_folder_nor_the_hosts_is_looked_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder(tmp_path / "here", "node.exe"))
    environ = on_windows("", ".", "relative", folder(tmp_path / "bin"))
    assert as_called_here(["node"], environ, windows=True) == ["node"]


@POSIX_PATHS
def test_elsewhere_it_is_what_the_path_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = folder(tmp_path / "bin", "python3")
    monkeypatch.setenv("PATH", there)
    assert as_called_here(["python", "a.py"], windows=False) == [f"{there}/python3", "a.py"]
    assert as_called_here(["no-such-program"], windows=False) == ["no-such-program"]
