import os

import pytest

from callboard.skills.discovery import BUNDLED, scan_and_load, search_paths
from callboard.skills.requirements import requirement_failures
from skills.skill_tree import TWO_TOOLS, write_skill


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for name in ("CALLBOARD_SKILL_PATHS", "DCC_MCP_SKILL_PATHS", "DCC_MCP_MAYA_SKILL_PATHS"):
        monkeypatch.delenv(name, raising=False)


def names(skills, below):
    return [s.name for s in skills if below.resolve() in s.path.parents]


def test_search_paths_in_order_of_importance(tmp_path):
    a, b, c, d, e = (tmp_path / letter for letter in "abcde")
    environ = {
        "CALLBOARD_SKILL_PATHS": f"{a}{os.pathsep}{b}",
        "DCC_MCP_SKILL_PATHS": f"{c}{os.pathsep}",
        "DCC_MCP_MAYA_SKILL_PATHS": str(d),
        "DCC_MCP_BLENDER_SKILL_PATHS": str(tmp_path / "other"),
    }
    assert search_paths("maya", [e, a], environ) == [a, b, c, d, e, BUNDLED]


def test_skills_for_other_hosts_are_left_out(tmp_path):
    for name, dcc in [("m", "maya"), ("b", "blender"), ("n", "''"), ("p", "python")]:
        write_skill(tmp_path, name, block=f"dcc: {dcc}")
    assert names(scan_and_load("maya", [tmp_path])[0], tmp_path) == ["m", "n", "p"]
    assert names(scan_and_load(None, [tmp_path])[0], tmp_path) == ["b", "m", "n", "p"]


def test_paths_from_the_environment(tmp_path, monkeypatch):
    write_skill(tmp_path, "mine")
    monkeypatch.setenv("DCC_MCP_MAYA_SKILL_PATHS", str(tmp_path))
    assert names(scan_and_load("maya")[0], tmp_path) == ["mine"]
    assert names(scan_and_load("blender")[0], tmp_path) == []


def test_a_search_path_may_be_one_skill(tmp_path):
    folder = write_skill(tmp_path, "one", files={"tools.yaml": TWO_TOOLS})
    assert names(scan_and_load(None, [folder])[0], tmp_path) == ["one"]


def test_of_two_skills_with_one_name_the_first_path_wins(tmp_path):
    write_skill(tmp_path / "site", "same", block="version: first")
    write_skill(tmp_path / "user", "same", block="version: second")
    skills, skipped = scan_and_load(None, [tmp_path / "site", tmp_path / "user"])
    assert [s.version for s in skills if s.name == "same"] == ["first"]
    assert [f.skill for f in skipped] == ["same"]


def test_unusable_skills_are_skipped_with_a_reason(tmp_path):
    write_skill(tmp_path, "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "SKILL.md").write_text("nothing")
    (tmp_path / "no-skill").mkdir()
    skills, skipped = scan_and_load(None, [tmp_path, tmp_path / "absent"])
    assert names(skills, tmp_path) == ["good"]
    assert [(f.skill, f.kind) for f in skipped] == [("bad", "parse")]


def test_a_folder_called_by_a_version_is_told_with_the_one_above(tmp_path):
    for version in ("1.3.2", "1.4.0"):
        skill = "name: publish\ndescription: d\nmetadata: {dcc-mcp.requires: [nothing-such]}"
        folder = tmp_path / "publish" / version
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\n{skill}\n---\n")
    broken = tmp_path / "publish" / "v2"
    broken.mkdir()
    (broken / "SKILL.md").write_text("nothing")
    skills, skipped = scan_and_load(None, [tmp_path / "publish"])
    (kept,) = (skill for skill in skills if skill.name == "publish")
    assert [failure.skill for failure in skipped] == ["publish", "publish/v2"]
    assert "'publish/1.4.0' isn't used: 'publish' was found before it, in 'publish/1.3.2'" in (
        skipped[0].message
    )
    (lacks,) = requirement_failures(kept)
    assert "callboard vendor publish " in lacks.message


def test_a_skill_folder_may_be_a_symlink(tmp_path):
    real = write_skill(tmp_path / "deployed", "linked", files={"tools.yaml": TWO_TOOLS})
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "linked").symlink_to(real, target_is_directory=True)
    skills, skipped = scan_and_load(None, [tmp_path / "search"])
    assert skipped == []
    assert [len(s.tools) for s in skills if s.name == "linked"] == [2]


def test_a_home_that_nobody_has_is_a_folder_that_is_not_there() -> None:
    paths = search_paths(environ={"CALLBOARD_SKILL_PATHS": "~nobody-here/skills"})
    assert not paths[0].exists()
