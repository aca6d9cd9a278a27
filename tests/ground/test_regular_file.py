"""A path that isn't a regular file is refused with an explanation, and no call hangs on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard_programs.cli import main
from needed import need

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    (tmp_path / "scene.usda").write_text("#usda 1.0")
    os.mkfifo(tmp_path / "pipe.csv")
    return tmp_path / "pipe.csv"


@pytest.fixture
def terminal() -> Iterator[str]:
    """Yield a device of this test's own, because a test must not write to one that others use."""
    need("terminals")
    ends = os.openpty()
    yield os.ttyname(ends[1])
    for end in ends:
        os.close(end)


@pytest.mark.parametrize("kind", ["a pipe", "a folder", "a device"])
@pytest.mark.parametrize(
    "words",
    [
        ["call", "scene__info", "--json", "@FILE"],
        ["batch", "scene__info", "--each", "SCENE", "--json", "@FILE"],
        ["batch", "scene__info", "--each", "SCENE", "--report", "FILE"],
        ["report", "--html", "FILE"],
    ],
)
def test_a_command_says_what_it_was_given(
    words: list[str], kind: str, pipe: Path, terminal: str, capsys: pytest.CaptureFixture[str]
) -> None:
    named = {"a pipe": str(pipe), "a folder": str(pipe.parent), "a device": terminal}[kind]
    scene = str(pipe.parent / "scene.usda")
    given = [word.replace("FILE", named).replace("SCENE", scene) for word in words]
    assert main(given) in (1, 2)
    assert f"it is {kind}, not a file" in capsys.readouterr().err


def test_a_pipe_is_no_scene_of_a_batch(pipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["batch", "scene__info", "--each", str(pipe)]) == 2
    assert f"{pipe} can't be read: it is a pipe" in capsys.readouterr().err


def test_a_pipe_is_no_settings_file(
    pipe: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CALLBOARD_SETTINGS", str(pipe))
    assert main(["doctor", "--settings"]) == 1
    assert "can't be read (it is a pipe, not a file)" in capsys.readouterr().err
