"""In a folder full of faulty skills, each fault is reported by name, and the good skill works."""

import logging
import os
import tempfile
from pathlib import Path

import pytest

from callboard.errors import SkillError
from callboard.skills.catalog import SkillCatalog
from callboard.skills.prompts.prompt_set import collect
from callboard.skills.prompts.registry import PromptReader
from callboard.skills.scripts import SkillScripts
from callboard_testing.lint.skill_lint import lint
from skills.skill_tree import write_files, write_skill

HEALTHY = {
    "tools.yaml": "tools: [{name: go, description: Goes.}]",
    "scripts/go.py": "def main(): return 'went'\n",
}
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(8)
)


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "secret.yaml").write_text("tools: [{name: stolen, description: d}]")
    root = tmp_path / "skills"
    with_tools = "tools: tools.yaml"
    write_skill(root, "healthy", files=HEALTHY)
    write_skill(root, "bomb", files={"tools.yaml": BOMB + "tools: []\n"})
    huge = write_skill(root, "huge")
    with (huge / "tools.yaml").open("wb") as stream:
        stream.truncate(50 * 1024 * 1024)
    write_skill(root, "up", block="tools: ../../secret.yaml")
    out = write_skill(root, "out")
    (out / "tools.yaml").symlink_to(tmp_path / "secret.yaml")
    write_skill(root, "circle-a", block=f"{with_tools}\ndepends: [circle-b]", files=HEALTHY)
    write_skill(root, "circle-b", block=f"{with_tools}\ndepends: [circle-a]", files=HEALTHY)
    double = write_skill(root, "double", files=HEALTHY)
    write_files(double, {"SKILL.md": "---\nname: healthy\ndescription: Not it.\n---\n"})
    latin = write_skill(root, "latin", files=HEALTHY)
    (latin / "SKILL.md").write_bytes(b"---\nname: latin\ndescription: caf\xe9\n---\n")
    raising = {**HEALTHY, "scripts/go.py": "raise RuntimeError('at import')\n"}
    write_skill(root, "raising", files=raising)
    exiting = {**HEALTHY, "scripts/go.py": "import sys\nsys.exit(3)\n"}
    write_skill(root, "exiting", files=exiting)
    deep = {"tools.yaml": "[" * 100_000}
    write_skill(root, "deep", files=deep)
    twice = {"tools.yaml": "tools:\n- {name: a, description: d}\n- {name: a, description: d}\n"}
    write_skill(root, "twice", files=twice)
    return root


@pytest.fixture
def plain_user_folder():
    """Return a folder made and used by a plain user, who, unlike root, may not read everything."""
    if not hasattr(os, "geteuid"):
        pytest.skip("the system has no file modes")
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    try:
        # TMPDIR may belong to root.
        places = (tempfile.gettempdir(), "/tmp", "/var/tmp")
        open_to_all = [p for p in places if os.access(p, os.W_OK | os.X_OK, effective_ids=True)]
        if not open_to_all:
            pytest.skip(f"none of {', '.join(places)} is open to every user")
        with tempfile.TemporaryDirectory(dir=open_to_all[0]) as name:
            yield Path(name)
    finally:
        if was == 0:
            os.seteuid(was)


WRONG = {
    "bomb": "values",
    "huge": "larger than",
    "up": "leads out",
    "out": "leads out",
    "circle-a": "circle-a -> circle-b -> circle-a",
    "circle-b": "circle-a -> circle-b -> circle-a",
    "healthy": "isn't used",
    "latin": "UTF-8",
    "deep": "nested deeper",
    "twice": "taken",
}


def test_the_healthy_neighbour_works_and_every_trap_is_named(tree, caplog):
    catalog = SkillCatalog([(tree, "user")])
    with caplog.at_level(logging.WARNING):
        catalog.refresh()
    messages = {failure.skill: failure.message for failure in catalog.failures}
    for skill, words in WRONG.items():
        assert words in messages[skill], skill
        assert any(f"{skill}: " in line and words in line for line in caplog.messages), skill
    assert not any("stolen" in tool.name for k in catalog.known for tool in k.skill.tools)
    assert all(str(tree) not in message for message in messages.values())
    (skill,) = catalog.load("healthy")
    scripts = SkillScripts(skill)
    assert scripts.entry(skill.tools[0]).function() == "went"
    scripts.close()


@pytest.mark.parametrize("name", ["raising", "exiting"])
def test_a_script_that_raises_or_exits_at_import_fails_its_call_only(tree, name):
    catalog = SkillCatalog([(tree, "user")])
    catalog.refresh()
    (skill,) = catalog.load(name)
    scripts = SkillScripts(skill)
    with pytest.raises(SkillError, match=r"scripts/go\.py"):
        scripts.entry(skill.tools[0])
    scripts.close()


def test_lint_names_every_trap(tree):
    findings = [str(finding) for finding in lint(tree)]
    folders = set(WRONG) - {"healthy"} | {"double", "raising", "exiting"}
    for folder in folders:
        assert any(line.startswith(f"{folder}/") and ": error: " in line for line in findings), (
            folder
        )
    assert not [line for line in findings if line.startswith("healthy/")]


def test_prompts_do_not_lead_out(tree):
    (tree.parent / "secret.md").write_text("the secret")
    for name, block in [("p-up", "examples: ../../secret.md"), ("p-glob", "recipes: ../../*.md")]:
        write_skill(tree, name, block=block)
    catalog = SkillCatalog([(tree, "user")])
    catalog.refresh()
    catalog.load("p-up", "p-glob")
    collected = collect(catalog.loaded, PromptReader())
    assert collected.prompts == {}
    assert {failure.skill for failure in collected.failures} == {"p-up", "p-glob"}


def test_a_folder_that_may_not_be_read_is_named(plain_user_folder):
    write_skill(plain_user_folder, "healthy", files=HEALTHY)
    locked = write_skill(plain_user_folder, "locked", files=HEALTHY)
    locked.chmod(0)
    try:
        catalog = SkillCatalog([(plain_user_folder, "user")])
        catalog.refresh()
        assert [(f.skill, f.kind) for f in catalog.failures] == [("locked", "read")]
        assert [f.file for f in lint(plain_user_folder)] == ["locked/SKILL.md"]
        assert [s.name for s in catalog.load("healthy")] == ["healthy"]
    finally:
        locked.chmod(0o700)
