"""``callboard manual``: adds, lists and removes manuals, as docs/commands.md says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard.manuals.shelf import manuals_folder
from callboard_programs.cli import main
from manuals.small_manual import PAGES, archive

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))

    def command(*words: str) -> tuple[int, str, str]:
        status = main(["manual", *words])
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return command


def test_a_manual_is_added_listed_and_removed(run: Run, tmp_path: Path) -> None:
    source = archive(tmp_path / "manual.zip")
    assert "there is no manual" in run()[1]
    status, out, _ = run("add", str(source))
    assert status == 0
    assert "blender-5.1-manual" in out
    assert "docs__lookup in Blender finds its text now" in out
    listed = run("list")[1]
    assert "Blender 5.1 Manual, for Blender 5.1: 4 pages" in listed
    assert listed == run()[1]
    (one,) = json.loads(run("--json")[1])
    assert (one["name"], one["kind"], one["sections"]) == ("blender-5.1-manual", "blender", 5)
    assert run("remove", "blender-5.1-manual")[0] == 0
    assert json.loads(run("list", "--json")[1]) == []


def test_json_says_what_was_done(run: Run, tmp_path: Path) -> None:
    told = json.loads(run("add", str(archive(tmp_path / "manual.zip")), "--json")[1])
    assert (told["title"], told["version"], told["skipped"]) == ("Blender 5.1 Manual", "5.1", 0)
    told = json.loads(run("remove", told["name"], "--json")[1])
    assert told == {"name": "blender-5.1-manual", "removed": True}


def test_the_users_words_win(run: Run, tmp_path: Path) -> None:
    source = archive(tmp_path / "manual.zip")
    words = ("--for", "maya", "--version", "2026", "--title", "Crafts", "--url", "http://a.b/c")
    told = json.loads(run("add", str(source), *words, "--json")[1])
    assert (told["kind"], told["version"], told["title"]) == ("maya", "2026", "Crafts")


def test_a_failure_says_what_to_do_and_keeps_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "manual.pdf").write_bytes(b"%PDF-1.7")
    pages = archive(tmp_path / "pages.zip", PAGES, folder="pages", layout="<html>{body}</html>")
    for words, told in {
        ("add", str(tmp_path / "manual.pdf")): "download the manual as HTML pages",
        ("add", str(tmp_path / "none.zip")): "there is no file or folder",
        ("add", str(pages)): "add, for example, `--for blender --version 5.1`",
        ("remove", "none"): "`callboard manual list` lists them",
    }.items():
        status, out, err = run(*words)
        assert (status, out) == (1, ""), words
        assert told in err
    assert not manuals_folder().exists() or not list(manuals_folder().iterdir())


def test_a_broken_index_is_listed_and_can_be_removed(run: Run, tmp_path: Path) -> None:
    manuals_folder().mkdir(parents=True)
    (manuals_folder() / "old.manual").write_text("x")
    assert "can't be read" in run("list")[1]
    assert json.loads(run("list", "--json")[1])[0]["name"] == "old"
    assert run("remove", "old")[0] == 0
