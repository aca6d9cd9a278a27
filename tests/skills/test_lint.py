from callboard_programs.cli import main
from callboard_testing.lint.skill_lint import lint
from skills.skill_tree import write_files, write_skill

GOOD = {
    "tools.yaml": "tools:\n- name: go\n  description: Goes.\n  input_schema: {type: object}\n",
    "scripts/go.py": "def main(): pass\n",
}


def lines(folder):
    return [str(finding) for finding in lint(folder)]


def test_a_good_skill_has_no_findings(tmp_path):
    assert lines(write_skill(tmp_path, "good", files=GOOD)) == []


def test_a_folder_without_skills_is_a_finding(tmp_path):
    assert lines(tmp_path) == [
        f".:1: error: no SKILL.md is in {tmp_path.as_posix()} or one level below it; "
        "give a skill's folder, or the one right above it"
    ]


def test_a_folder_with_skills_further_down_is_told_with_those_to_give(
    tmp_path, monkeypatch, capsys
):
    for version in ("0.2.0", "0.3.0"):
        write_skill(tmp_path / "variants" / version, "good", files=GOOD)
    (tmp_path / "variants" / "notes.txt").write_text("none")
    monkeypatch.chdir(tmp_path)
    assert main(["lint", "variants"]) == 1
    told = "no SKILL.md is in variants or one level below it; give variants/0.2.0 or variants/0.3.0"
    assert capsys.readouterr().out == f".:1: error: {told}\n"


def test_findings_name_file_and_line(tmp_path):
    write_skill(tmp_path, "good", files=GOOD)
    files = {
        "tools.yaml": (
            "tools:\n- name: a\n  description: d\n  required_capabilities: usd\n"
            "- name: b\n  description: d\n"
            "- name: c\n  description: d\n  input_schema: {properties: {x: {type: 3}}}\n"
            "- name: e\n  description: d\n"
        ),
        "scripts/b.py": "import os\nraise SystemExit\n",
        "scripts/c.py": "def main():\n  pass\n\n)\n",
        "scripts/e.py": "import sys\ndef e(): pass\nsys.exit(1)\n",
    }
    write_skill(tmp_path, "bad", files=files)
    findings = lines(tmp_path)
    assert (
        "bad/tools.yaml:4: error: tool 'a': 'required_capabilities' must be a list of strings"
        in findings
    )
    assert "bad/scripts/b.py:2: error: raises when it is imported" in findings
    assert any(f.startswith("bad/scripts/c.py:4: error: can't be parsed") for f in findings)
    assert any("'input_schema' isn't a valid JSON Schema" in f for f in findings)
    assert "bad/scripts/e.py:3: error: calls sys.exit() when it is imported" in findings
    assert not [f for f in findings if f.startswith("good/")]


def test_lint_does_not_run_scripts(tmp_path):
    marker = tmp_path / "ran"
    source = f"open({str(marker)!r}, 'w')\ndef main(): pass\n"
    lint(write_skill(tmp_path, "s", files={**GOOD, "scripts/go.py": source}))
    assert not marker.exists()


def test_skills_whose_wire_names_clash(tmp_path):
    write_skill(tmp_path, "a-b", files=GOOD)
    write_skill(tmp_path, "a_b", files=GOOD)
    assert any("a_b/SKILL.md:2: error: the name clashes" in f for f in lines(tmp_path))


def test_what_skill_md_says_wrongly_is_told_where_it_stands(tmp_path):
    block = "version: 1.0.0\ndepends: [nowhere]\nrequires:\n  - pytest\n  - no-such-package\n"
    skill = write_skill(tmp_path, "needy", block=block).rename(tmp_path / "called-otherwise")
    assert [line.split(" ")[0] for line in lines(skill)] == [
        "SKILL.md:2:",
        "SKILL.md:7:",
        "SKILL.md:10:",
    ]
    flat = "---\ndescription: d\nname: flat\nmetadata:\n  dcc-mcp.requires: no-such-package\n---\n"
    write_files(tmp_path / "flat", {"SKILL.md": flat})
    (finding,) = lines(tmp_path / "flat")
    assert finding.startswith("SKILL.md:5: warning: requires no-such-package")


def test_a_reference_that_leads_nowhere_is_found_where_it_is_written(tmp_path):
    files = {"prompts.yaml": "workflows:\n- file: ../../x.yaml\n- file: gone.workflow.yaml\n"}
    write_skill(tmp_path, "a", block="prompts: prompts.yaml", files=files)
    skill = write_skill(tmp_path, "b", block="prompts: nowhere.yaml")
    written = (skill / "SKILL.md").read_text("utf-8").splitlines()
    line = next(n for n, text in enumerate(written, 1) if "nowhere.yaml" in text)
    assert [f for f in lines(tmp_path) if ": error:" in f] == [
        "a/prompts.yaml:2: error: '../../x.yaml' leads out of the skill's folder",
        "a/prompts.yaml:3: error: 'gone.workflow.yaml' doesn't exist",
        f"b/SKILL.md:{line}: error: 'nowhere.yaml' doesn't exist",
    ]


def test_what_ships_may_be_depended_on(tmp_path):
    block = "tools: tools.yaml\ndepends: [scene, nowhere]"
    (finding,) = lines(write_skill(tmp_path, "s", block=block, files=GOOD))
    assert "'nowhere'" in finding


def test_what_is_depended_on_is_found_beside_and_on_the_search_paths(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    write_skill(tmp_path / "site" / "pinned", "handover", block="depends: [deeper]")
    deeper = write_skill(tmp_path / "deeper", "deeper", files=GOOD)
    skill = write_skill(tmp_path / "mine", "mine", block="depends: [handover]")
    assert main(["lint", str(skill)]) == 0
    told = capsys.readouterr().out
    assert "'handover', which isn't on the search paths; name the folder that holds it in" in told
    write_files(tmp_path / "site", {"settings.yaml": "skill_paths: [pinned]\n"})
    monkeypatch.setenv("CALLBOARD_SITE", str(tmp_path / "site"))
    assert main(["lint", str(skill)]) == 0
    assert "'handover' depends on 'deeper', which" in capsys.readouterr().out
    assert main(["lint", str(skill), str(deeper)]) == 0
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("CALLBOARD_SKILL_PATHS", str(deeper))
    assert main(["lint", str(skill)]) == 0
    assert capsys.readouterr().out == ""
    beside = write_skill(tmp_path / "deeper", "beside", block="depends: [deeper]")
    assert lines(beside) == []


def test_the_versions_of_a_skill_in_its_folder_are_no_clash(tmp_path):
    versions = tmp_path / "pinned" / "intake"
    versions.mkdir(parents=True)
    for version in ("1.3.2", "1.4.0"):
        write_skill(tmp_path, "intake", files=GOOD).rename(versions / version)
    assert lines(versions) == []
