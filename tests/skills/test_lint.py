from callboard.skills.lint import lint
from skills.skill_tree import write_skill

GOOD = {
    "tools.yaml": "tools:\n- name: go\n  description: Goes.\n  input_schema: {type: object}\n",
    "scripts/go.py": "def main(): pass\n",
}


def lines(folder):
    return [str(finding) for finding in lint(folder)]


def test_a_good_skill_has_no_findings(tmp_path):
    assert lines(write_skill(tmp_path, "good", files=GOOD)) == []


def test_a_folder_without_skills_is_a_finding(tmp_path):
    assert lines(tmp_path) == [".:1: error: holds no skill: no SKILL.md here or one level below"]


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
    assert any("a_b/SKILL.md:1: error: the name clashes" in f for f in lines(tmp_path))


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
