from __future__ import annotations

from pathlib import Path

import pytest

from callboard.panel.project_settings import ProjectSettings, load, project_of, save, settings_file
from callboard.workspace.containment import parse_root


def test_settings_come_back_as_they_were(home: Path) -> None:
    roots = (parse_root("/projects/a", read_only=True), parse_root("/projects/b", name="B"))
    assert load("/p") is None
    save("/p", ProjectSettings(roots, "strict"))
    assert load("/p") == ProjectSettings(roots, "strict")
    assert load("/q") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"roots": 3}',
        '{"roots": [], "roots_policy": "loose"}',
        '{"roots": [{"uri": "relative"}], "roots_policy": "strict"}',
        '{"roots": [{}], "roots_policy": "strict"}',
        "[" * 100_000,
    ],
)
def test_a_file_that_is_not_ours_is_named_and_nothing_of_it_used(home: Path, text: str) -> None:
    file = settings_file("/p")
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    settings = load("/p")
    assert settings is not None
    assert settings.roots == ()
    assert file.name in settings.problem


def test_a_project_is_its_first_folder() -> None:
    assert project_of("maya", ["/a", "/b"]) == "/a"
    assert project_of("maya", []) != project_of("blender", [])
