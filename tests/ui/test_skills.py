from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from needed import need

need("qt")

from panel_rig import texts

from callboard_ui.panel import SKILLS

BROKEN = """prompts:
  - name: good
    description: Does it
    template: Do it.
  - name: ''
    description: Has no name
    template: nameless
"""
SKILL = """---
name: studio
description: The studio's own.
metadata:
  dcc-mcp:
    prompts: prompts.yaml
---
"""


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    folder = tmp_path / "skills" / "studio"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL, encoding="utf-8")
    (folder / "prompts.yaml").write_text(BROKEN, encoding="utf-8")
    return folder


@pytest.fixture
def shown(open_panel: Any, skills: Path) -> Any:
    panel = open_panel(skills=True, skill_paths=[skills.parent])
    panel.turn_to(SKILLS)
    return panel


def rows(shown: Any, skill: str) -> list[str]:
    return [r.cells[0] for g in shown.panel.skills.model.rows if g.key == skill for r in g.rows]


def test_skills_show_with_their_prompts_and_with_file_and_line_of_what_is_wrong(
    shown: Any, skills: Path
) -> None:
    tab = shown.panel.skills
    shown.until(lambda: len(rows(shown, "studio")) == 2)
    assert rows(shown, "studio")[0].startswith("prompts.yaml:5: ")
    assert rows(shown, "studio")[1].startswith("studio.good")
    # Broken skills come first, unfolded.
    assert tab.model.rows[0].key == "studio"
    assert tab.view.isExpanded(tab.model.index(0, 0))
    shown.click_row(tab.view, tab.model.find("studio"))
    assert str(skills) in tab.about.text()
    assert tab.folder.isEnabled()


def test_reload_sees_what_was_mended_on_disk(shown: Any, skills: Path) -> None:
    shown.until(lambda: len(rows(shown, "studio")) == 2)
    (skills / "prompts.yaml").write_text(
        BROKEN.replace("name: ''", "name: another"), encoding="utf-8"
    )
    shown.click(shown.panel.skills.reload)
    shown.until(
        lambda: (
            [r.split()[0] for r in rows(shown, "studio")]
            == [
                "studio.another",
                "studio.good",
            ]
        )
    )


def test_the_filter_finds_skills_by_their_prompts(shown: Any) -> None:
    tab = shown.panel.skills
    shown.until(lambda: len(rows(shown, "studio")) == 2)
    shown.qtbot.keyClicks(tab.search, "studio.good")
    assert [row.key for row in tab.model.rows] == ["studio"]
    shown.qtbot.keyClicks(tab.search, "zzz")
    assert "No skill matches." in texts(tab)
