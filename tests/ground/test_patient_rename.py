"""A file replaces another one that a program is reading. Until the program is done, Windows refuses
this."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callboard.ground.patient_rename import rename_over
from callboard.ground.private_file import write_private


def held_for(times: int, code: int) -> tuple[Callable[..., None], list[int]]:
    """Return a rename that first refuses ``times`` times as Windows does, and the list of its
    refusals."""
    real, refusals = os.replace, []

    def rename(*args: Any, **options: Any) -> None:
        if len(refusals) < times:
            refusals.append(code)
            error = PermissionError(13, "held by somebody")
            error.winerror = code  # type: ignore[attr-defined,unused-ignore]
            raise error
        real(*args, **options)

    return rename, refusals


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "new", tmp_path / "there"
    source.write_text("new")
    target.write_text("old")
    return source, target


@pytest.mark.parametrize("code", [5, 32])
def test_one_that_is_being_read_is_replaced_when_that_ends(
    files: tuple[Path, Path], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, refusals = held_for(3, code)
    monkeypatch.setattr(os, "replace", rename)
    waited: list[float] = []
    rename_over(*files, pause=waited.append)
    assert files[1].read_text() == "new"
    assert len(refusals) == len(waited) == 3


def test_after_about_a_second_it_is_said(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", held_for(100, 32)[0])
    waited: list[float] = []
    with pytest.raises(PermissionError, match="held by somebody"):
        rename_over(*files, pause=waited.append)
    assert sum(waited) == pytest.approx(1.0)
    assert files[1].read_text() == "old"


def test_another_refusal_is_said_at_once(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", held_for(100, 19)[0])
    with pytest.raises(PermissionError):
        rename_over(*files, pause=lambda _: pytest.fail("it waited anyway"))


def test_tokens_and_what_is_known_of_hosts_survive_a_virus_scanner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", held_for(2, 5)[0])
    write_private(tmp_path / "kept.json", "{}")
    assert [each.name for each in tmp_path.iterdir()] == ["kept.json"]
