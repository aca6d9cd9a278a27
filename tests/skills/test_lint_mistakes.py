"""Each deliberate mistake in an otherwise correct skill leads to one finding, which names the line
and explains what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callboard_programs.cli import main
from callboard_testing.lint.skill_lint import lint
from skills.skill_tree import write_files

RIGHT = {
    "SKILL.md": """\
---
name: studio
description: Publishes assets.
metadata:
  dcc-mcp:
    dcc: blender
    version: "1.0"
    search-hint: publish, release
    load: when-called
    tools: tools.yaml
    prompts: prompts.yaml
    workflows: release.workflow.yaml
    resources: resources.yaml
---
""",
    "tools.yaml": """\
tools:
  - name: publish
    description: Publishes one asset.
    required_capabilities: [filesystem.write, scene.read]
    timeout_hint_secs: 60
    next-tools:
      on-success: [studio__check]
    input_schema:
      type: object
      properties:
        path: {type: string, format: workspace-path}
        version: {type: integer}
      required: [path]
  - name: check
    description: Checks what was published.
    source_file: checking.py
    affinity: any
    annotations:
      read_only_hint: true
""",
    "scripts/publish.py": """\
from _common import place


def publish(ctx, path, version=1):
    return place(names(ctx), path, version)


def names(ctx):
    return ctx.port("scene.read").names()
""",
    "scripts/checking.py": """\
import sys


def check():
    return {"python": sys.version}
""",
    "scripts/_common.py": """\
import json


def place(names, path, version):
    return json.dumps([names, path, version])
""",
    "resources.yaml": """\
resources:
  - name: naming
    uri: studio://naming
    description: How assets are named.
    file: SKILL.md
  - name: shot
    uri: studio://shots/{shot}
    description: Frames of a shot.
    source_file: scripts/read.py
    required_capabilities: [scene.read]
""",
    "scripts/read.py": """\
def shot(ctx, shot):
    return str(ctx.port("scene.read").get(shot))
""",
    "prompts.yaml": """\
prompts:
  - name: release
    description: Release an asset.
    arguments:
      - name: asset
    template: Release {{asset}}.
""",
    "release.workflow.yaml": """\
name: release
description: Publishes, then checks.
inputs:
  path: {type: string}
steps:
  - id: published
    tool: studio__publish
    args: {path: "{{path}}"}
  - tool: studio__check
    args: {}
""",
}
CHECK = "scripts/checking.py"
PUBLISH = "scripts/publish.py"
FLOW = "release.workflow.yaml"
RESOURCES = "resources.yaml"
READING = "scripts/read.py"

#: The file, the correct text, the mistake that replaces it, and the location and the text of the
#: finding.
MISTAKES = [
    ("SKILL.md", "name: studio", "name: our studio", "SKILL.md:2", "'name' must be 1 to 64 of"),
    ("SKILL.md", "description:", "descripton:", "SKILL.md:2", "'description' must be text"),
    ("SKILL.md", "dcc: blender", "dcc: blneder", "SKILL.md:6", "did you mean 'blender'?"),
    ("SKILL.md", "dcc: blender", "dcc: usd", "SKILL.md:6", "did you mean 'openusd'?"),
    ("SKILL.md", "search-hint:", "search-hnit:", "SKILL.md:8", "did you mean 'search-hint'?"),
    ("SKILL.md", "when-called", "when_called", "SKILL.md:9", "did you mean 'when-called'?"),
    ("SKILL.md", "load: when-called", "requries: [a]", "SKILL.md:9", "did you mean 'requires'?"),
    ("SKILL.md", "load: when-called", "requires: [--pre]", "SKILL.md:9", "a package for pip"),
    ("SKILL.md", "workflows:", "workflow:", "SKILL.md:12", "did you mean 'workflows'?"),
    ("SKILL.md", ": tools.yaml", ": tool.yaml", "SKILL.md:10", "'tool.yaml' doesn't exist"),
    ("SKILL.md", ": prompts.yaml", ": prompt.yaml", "SKILL.md:11", "'prompt.yaml' doesn't exist"),
    ("SKILL.md", ": release.w", ": a.w", "SKILL.md:12", "'a.workflow.yaml' doesn't exist"),
    (
        "tools.yaml",
        "description: P",
        "descripton: P",
        "tools.yaml:3",
        "did you mean 'description'?",
    ),
    ("tools.yaml", "required_c", "require_c", "tools.yaml:4", "did you mean 'required_capabili"),
    ("tools.yaml", "scene.read", "scene.raed", "tools.yaml:4", "did you mean 'scene.read'?"),
    ("tools.yaml", "[filesystem.write, scene.read]", "usd", "tools.yaml:4", "a list of strings"),
    ("tools.yaml", "filesystem.write, ", "", "tools.yaml:8", "add filesystem.read or filesystem.w"),
    ("tools.yaml", "read_only_hint", "read_only", "tools.yaml:19", "did you mean 'read_only_hint"),
    ("tools.yaml", ", format: workspace-path", "", "tools.yaml:8", "give it 'format: workspace-p"),
    ("tools.yaml", "[studio__check]", "[check]", "tools.yaml:7", "did you mean 'studio__check'?"),
    ("tools.yaml", "_secs: 60", "_sec: 60", "tools.yaml:5", "did you mean 'timeout_hint_secs'?"),
    ("tools.yaml", "_secs: 60", "_secs: long", "tools.yaml:5", "must be a number of seconds"),
    ("tools.yaml", "on-success", "on-sucess", "tools.yaml:7", "did you mean 'on-success'?"),
    ("tools.yaml", "[studio__check]", "[studio__chek]", "tools.yaml:7", "mean 'studio__check'?"),
    ("tools.yaml", "{type: integer}", "{type: whole}", "tools.yaml:12", "'whole' isn't a type; th"),
    ("tools.yaml", "        version:", "        versoin:", f"{PUBLISH}:4", "doesn't take; add the"),
    ("tools.yaml", "      required: [path]\n", "", f"{PUBLISH}:4", "list it as required"),
    ("tools.yaml", ": checking.py", ": cheking.py", "tools.yaml:16", "'cheking.py' doesn't exist"),
    (
        "tools.yaml",
        "affinity: any",
        "affinity: main_thread",
        "tools.yaml:17",
        "must be main or any",
    ),
    (
        "tools.yaml",
        "read_only_hint",
        "readonly_hint",
        "tools.yaml:19",
        "did you mean 'read_only_hint",
    ),
    (
        *("tools.yaml", "annotations:\n      read_only_hint", "read_only_hint"),
        *("tools.yaml:18", "counts only below 'annotations'; move it there"),
    ),
    ("tools.yaml", "affinity: any", "source_file: a.py", "tools.yaml:17", "is written twice"),
    (PUBLISH, '"scene.read"', '"usd"', f"{PUBLISH}:9", "add it to its required_capabilities"),
    (
        PUBLISH,
        "def publish(",
        "def publsh(",
        f"{PUBLISH}:1",
        "neither main(**arguments) nor publish",
    ),
    (PUBLISH, "version=1):", "version=1", f"{PUBLISH}:4", "can't be parsed"),
    (PUBLISH, "path, version=1", "path", f"{PUBLISH}:4", "has 'version', which publish() doesn't"),
    (
        *(CHECK, "def check():\n", "async def check(ctx):\n    ctx.on_main_thread(print)\n"),
        *(f"{CHECK}:5", "does nothing until it is awaited"),
    ),
    (CHECK, "check():\n", "check(ctx):\n    ctx.stage\n", f"{CHECK}:5", "'scene.read' without d"),
    (CHECK, "import sys\n", "import sys\nsys.exit()\n", f"{CHECK}:2", "when it is imported"),
    (
        "scripts/_common.py",
        "json",
        "jsno",
        "scripts/_common.py:1",
        "imports 'jsno', which is missing",
    ),
    ("prompts.yaml", "name: asset", "name: aset", "prompts.yaml", "asset"),
    ("SKILL.md", ": resources.yaml", ": a.yaml", "SKILL.md:13", "'a.yaml' doesn't exist"),
    (RESOURCES, "uri: studio://n", "url: studio://n", f"{RESOURCES}:2", "'uri' must be like"),
    (RESOURCES, "studio://n", "scene://n", f"{RESOURCES}:3", "use a scheme of your own"),
    (RESOURCES, "studio://n", "report://7d", f"{RESOURCES}:3", "use a scheme of your own"),
    (RESOURCES, "description: H", "descripton: H", f"{RESOURCES}:4", "did you mean 'description'?"),
    (
        RESOURCES,
        "    description: How assets are named.\n",
        "",
        f"{RESOURCES}:2",
        "say what it contains",
    ),
    (
        RESOURCES,
        "    file: SKILL.md\n",
        "",
        f"{RESOURCES}:2",
        "needs either 'file' or 'source_file'",
    ),
    (RESOURCES, "SKILL.md", "../a.md", f"{RESOURCES}:5", "leads out of the skill's folder"),
    (RESOURCES, "s/{shot}", "s/{a}/{shot}", f"{READING}:1", "has '{a}', which shot() doesn't take"),
    (RESOURCES, "s/{shot}", "s", f"{READING}:1", "write {shot} there, or give the parameter"),
    (RESOURCES, "scene.read", "scene.raed", f"{RESOURCES}:10", "did you mean 'scene.read'?"),
    (RESOURCES, "scene.read", "scene.mutate", f"{RESOURCES}:10", "must not change anything"),
    (READING, "def shot(", "def shto(", f"{READING}:1", "neither main(**arguments) nor shot"),
    (FLOW, "tool: studio__check", "tool: studio__chek", f"{FLOW}:9", "mean 'studio__check'?"),
    (FLOW, "tool: studio__check", "tool: check", f"{FLOW}:9", "did you mean 'studio__check'?"),
    (FLOW, "    args: {}", "    argss: {}", f"{FLOW}:10", "did you mean 'args'?"),
    (
        FLOW,
        "{{path}}",
        "{{paht}}",
        f"{FLOW}:6",
        "isn't an input, an earlier step or a loop variable",
    ),
    (FLOW, "- tool: studio__check", "- call: studio__check", f"{FLOW}:9", "must be one of tool,"),
]


def written(folder: Path) -> Path:
    write_files(folder / "studio", RIGHT)
    return folder / "studio"


def test_the_skill_is_right_otherwise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path)
    assert lint(folder) == []
    assert main(["lint", str(folder)]) == 0
    assert capsys.readouterr() == ("", "callboard: nothing is wrong\n")


@pytest.mark.parametrize(
    ("file", "right", "wrong", "place", "says"), MISTAKES, ids=[f"{m[0]}-{m[2]}" for m in MISTAKES]
)
def test_each_mistake_is_one_finding(
    file: str, right: str, wrong: str, place: str, says: str, tmp_path: Path
) -> None:
    folder = written(tmp_path)
    text = RIGHT[file]
    assert right in text
    replaced = text.replace(right, wrong, 1) if file != "scripts/_common.py" else "import jsno\n"
    (folder / file).write_text(replaced, encoding="utf-8")
    (finding,) = map(str, lint(folder))
    assert finding.startswith(f"{place}:")
    assert says in finding


def test_all_are_told_at_once_and_for_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path)
    tools = RIGHT["tools.yaml"].replace("on-s", "on-ss").replace("read_only", "readonly")
    (folder / "tools.yaml").write_text(tools, encoding="utf-8")
    script = RIGHT[PUBLISH].replace("scene.read", "usd")
    (folder / PUBLISH).write_text(script, encoding="utf-8")
    assert main(["lint", str(folder), "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)
    assert [(one["file"], one["line"], one["severity"]) for one in findings] == [
        (PUBLISH, 9, "error"),
        ("tools.yaml", 7, "warning"),
        ("tools.yaml", 19, "warning"),
    ]


def test_warnings_count_where_that_is_asked_for(tmp_path: Path) -> None:
    folder = written(tmp_path)
    flow = RIGHT[FLOW].replace("    args: {}", "    argss: {}")
    (folder / FLOW).write_text(flow, encoding="utf-8")
    assert main(["lint", str(folder)]) == 0
    assert main(["lint", str(folder), "--strict"]) == 1


def test_what_is_like_nothing_we_know_is_somebody_elses(tmp_path: Path) -> None:
    folder = written(tmp_path)
    tools = RIGHT["tools.yaml"].replace("affinity: any", "farm_pool: nightly\n    affinity: any")
    tools = tools.replace("[filesystem.write,", "[filesystem.write, com.studio.tracker,")
    (folder / "tools.yaml").write_text(tools, encoding="utf-8")
    (folder / "SKILL.md").write_text(
        RIGHT["SKILL.md"].replace("dcc: blender", "dcc: nuke"), "utf-8"
    )
    assert lint(folder) == []


def test_tests_without_their_fixture(tmp_path: Path) -> None:
    folder = written(tmp_path)
    write_files(folder, {"tests/test_it.py": "def test_it(callboard_skill):\n    pass\n"})
    (finding,) = lint(folder)
    assert (finding.file, finding.line) == ("tests/test_it.py", 1)
    assert "from callboard_testing.pytest_plugin import *" in finding.message
    (folder / "tests" / "conftest.py").touch()
    assert lint(folder) == []


def test_several_folders_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = written(tmp_path)
    wrong = written(tmp_path / "other")
    (wrong / "SKILL.md").write_text(RIGHT["SKILL.md"].replace("dcc: b", "dcc: bb"), "utf-8")
    assert main(["lint", str(right), str(wrong), "--strict"]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{wrong.as_posix()}/SKILL.md:6: ")


def test_all_mistakes_of_one_tool_are_reported_at_once(tmp_path: Path) -> None:
    """The mistakes in the tool's entry don't hide those in its script."""
    folder = written(tmp_path)
    tools = RIGHT["tools.yaml"].replace("timeout_hint_secs: 60", "timeout_hint_secs: long")
    tools = tools.replace(
        "    timeout_hint", "    affinity: worker\n    execution: asynch\n    timeout_hint", 1
    )
    (folder / "tools.yaml").write_text(tools, encoding="utf-8")
    code = RIGHT[PUBLISH].replace("scene.read", "usd").replace("from _common", "from _comon")
    assert "_comon" in code
    (folder / PUBLISH).write_text(code, encoding="utf-8")
    told = "\n".join(map(str, lint(folder)))
    for words in (
        *("'affinity' must be main or any", "'execution' must be sync or async"),
        *("must be a number of seconds", "imports '_comon'", "uses the port 'usd'"),
    ):
        assert told.count(words) == 1, told
    assert len(told.splitlines()) == 5, told


def test_an_undeclared_port_is_told_beside_the_misspelt_key(tmp_path: Path) -> None:
    folder = written(tmp_path)
    entries = RIGHT["tools.yaml"].replace("required_c", "require_c", 1)
    (folder / "tools.yaml").write_text(entries, encoding="utf-8")
    (folder / PUBLISH).write_text(RIGHT[PUBLISH].replace("scene.read", "usd"), encoding="utf-8")
    told = [str(one) for one in lint(folder)]
    assert len(told) == 2, told
    assert any("did you mean 'required_capabilities'?" in one for one in told), told
    assert any("uses the port 'usd' without declaring it" in one for one in told), told


def test_all_mistakes_of_one_workflow_are_reported_at_once(tmp_path: Path) -> None:
    """A mistake that only follows from another one isn't reported."""
    folder = written(tmp_path)
    flow = """\
name: release
description: Checks and publishes.
inputs:
  a: {type: string}
steps:
  - id: odd
    brunch: "{{inputs.a}}"
    then: [{tool: studio__check}]
  - id: which
    branch: "{{odd.took}}"
    then: []
    else: [{id: which, tool: studio__check}]
  - id: published
    tool: studio__publish
    args: {path: "{{inputs.b}}"}
  - {tool: studio__publish, args: {path: "{{published.path}}"}}
"""
    (folder / FLOW).write_text(flow, encoding="utf-8")
    errors = [one for one in lint(folder) if one.severity == "error"]
    assert [(one.line, one.message.split(";")[0][:24]) for one in errors] == [
        (6, "a step must be one of to"),
        (11, "'then' needs at least on"),
        (12, "the id 'which' is taken"),
        (13, "'{{inputs.b}}' isn't an "),
    ]


@pytest.mark.parametrize(
    ("file", "changes", "told"),
    [
        (
            "SKILL.md",
            {"metadata:": "metdata:", "dcc-mcp:": "dcc-mpc:", "dcc: blender": "dcc: blendr"},
            [
                "SKILL.md:4: warning: key 'metdata' isn't known; did you mean 'metadata'?",
                "SKILL.md:5: warning: key 'dcc-mpc' isn't known; did you mean 'dcc-mcp'?",
                "SKILL.md:6: warning: key 'dcc': 'blendr' isn't known; did you mean 'blender'?",
            ],
        ),
        (
            "tools.yaml",
            {"annotations:": "anotations:", "read_only": "readonly"},
            [
                "tools.yaml:18: warning: key 'anotations' isn't known; did you mean 'annotations'?",
                "tools.yaml:19: warning: key 'readonly_hint' isn't known; did you mean "
                "'read_only_hint'?",
            ],
        ),
        (
            "tools.yaml",
            {"tools:": "tols:", "next-tools:": "next-tols:"},
            [
                "tools.yaml:1: warning: key 'tols' isn't known; did you mean 'tools'?",
                "tools.yaml:6: warning: key 'next-tols' isn't known; did you mean 'next-tools'?",
            ],
        ),
    ],
    ids=["metadata", "annotations", "tools"],
)
def test_what_is_below_a_misspelt_key_is_told_with_it(
    file: str, changes: dict[str, str], told: list[str], tmp_path: Path
) -> None:
    folder = written(tmp_path)
    text = RIGHT[file]
    for right, wrong in changes.items():
        text = text.replace(right, wrong, 1)
    (folder / file).write_text(text, encoding="utf-8")
    findings = list(map(str, lint(folder)))
    assert [line for line in findings if line in told] == told
