"""``SkillBench`` and its helpers, with which skills test themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from callboard.errors import CapabilityMissing, HostError, InvalidParams, SkillError
from callboard_testing.skill_bench import SkillBench, ToolFailed, host_for_tests, skill_folder
from needed import need
from serving import remember_skills
from skills.skill_tree import write_skill

need("pxr")

FILES = {
    "tools.yaml": """\
        tools:
        - {name: add, description: d, required_capabilities: [scene.mutate]}
        - {name: spoil, description: d, required_capabilities: [scene.mutate]}
        - {name: count, description: d, required_capabilities: [scene.read]}
        - {name: ask, description: d}
        - {name: slow, description: d, execution: async, affinity: any}
        - {name: see, description: d, required_capabilities: [viewport]}
        """,
    "scripts/add.py": """\
        def main(ctx, name):
            ctx.port("scene.mutate").create("cube", name, {"size": 1})
        """,
    "scripts/spoil.py": """\
        def main(ctx, name):
            ctx.port("scene.mutate").create("cube", name, {"size": 1})
            raise ValueError("no good")
        """,
    "scripts/count.py": """\
        def main(ctx):
            yield ctx.progress(1, 2, "half")
            return {"count": len(ctx.port("scene.read").names())}
        """,
    "scripts/ask.py": """\
        FORM = {"type": "object", "properties": {"color": {"type": "string"}}}
        def main(ctx):
            return ctx.elicit("Which colour?", FORM).content
        """,
    "scripts/slow.py": "async def main():\n    return {'done': True}\n",
    "scripts/see.py": "def main():\n    return 1\n",
}


@pytest.fixture
def bench(tmp_path, monkeypatch):
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    remember_skills()
    folder = write_skill(tmp_path / "skills", "my-skill", files=FILES)
    with SkillBench(folder) as bench:
        yield bench


def test_tools_are_called_by_short_and_by_full_name(bench):
    before = bench.call("count")["count"]
    bench.call("add", name="a")
    bench.call("my_skill__add", name="b")
    assert bench.call("my_skill__count") == {"count": before + 2}
    assert bench.call("scene__list_objects", pattern="a")["total"] == 1
    assert bench.tools[0] == "my_skill__add"


def test_a_failure_is_raised_and_the_scene_put_back(bench):
    before = bench.call("count")
    with pytest.raises(ToolFailed, match="no good") as failed:
        bench.call("spoil", name="a")
    assert failed.value.result["isError"] is True
    assert bench.call("count") == before


def test_the_gate_holds(bench):
    with pytest.raises(CapabilityMissing, match="viewport"):
        bench.call("see")
    with pytest.raises(InvalidParams, match="unknown tool"):
        bench.call("nothing")


@pytest.mark.parametrize("tool", ["see", "spoil", "nothing"])
def test_pytest_shows_the_tests_own_line_and_none_of_ours(bench, tool):
    with pytest.raises((CapabilityMissing, ToolFailed, InvalidParams)) as failed:
        bench.call(tool)
    shown = failed.traceback.filter(failed)
    assert [Path(entry.path).name for entry in shown] == [Path(__file__).name]


def test_a_host_that_is_none_is_told_with_those_there_are(monkeypatch):
    monkeypatch.setenv("CALLBOARD_TEST_HOST", "bpy")
    with pytest.raises(HostError, match="which isn't a host; set it to one of openusd, blender"):
        host_for_tests()


def test_progress_is_collected(bench):
    bench.call("count")
    assert bench.progress == [{"progress": 1, "total": 2, "message": "half"}]


def test_the_test_answers_for_the_client(bench):
    with pytest.raises(ToolFailed, match="answers"):
        bench.call("ask")
    asked = []
    bench.answers["elicitation/create"] = lambda params: (
        asked.append(params["message"]) or {"action": "accept", "content": {"color": "red"}}
    )
    assert bench.call("ask") == {"color": "red"}
    assert asked == ["Which colour?"]


def test_an_async_tool_is_waited_for(bench):
    assert bench.call("slow") == {"done": True}


def test_a_workflow_that_isnt_there_is_told_with_those_that_are_and_why_others_are_not(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    steps = "steps:\n- {tool: my_skill__count}\n"
    files = {
        **FILES,
        "flows/good.workflow.yaml": f"name: good\n{steps}",
        "flows/bad.workflow.yaml": f"name: bad\n{steps}- {{branch: x, then: []}}\n",
        "prompts.yaml": "workflows: [{file: told.workflow.yaml}]\n",
        "told.workflow.yaml": "name: told\nsteps: []\n",
        "lost.workflow.yaml": f"name: lost\n{steps}",
    }
    block = "tools: tools.yaml\nprompts: prompts.yaml\nworkflows: flows/*.yaml"
    folder = write_skill(tmp_path, "my-skill", block=block, files=files)
    with SkillBench(folder) as bench, pytest.raises(InvalidParams) as refused:
        bench.workflow("lost")
    told = str(refused.value)
    assert "unknown workflow 'my-skill.lost'; available: my-skill.good" in told
    assert "not read: my-skill/flows/bad.workflow.yaml:4: " in told
    assert "not read: my-skill/told.workflow.yaml:2: " in told
    assert "my-skill/lost.workflow.yaml: SKILL.md doesn't name it under workflows" in told


def test_lint_and_the_skill_of_a_file(bench):
    assert bench.lint() == []
    assert skill_folder(bench.folder / "tests" / "test_it.py") == bench.folder


def test_a_skill_that_cannot_be_loaded_says_why_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    block = "tools: tools.yaml\ndepends: [elsewhere]"
    folder = write_skill(tmp_path / "skills", "a", block=block, files=FILES)
    with pytest.raises(SkillError, match="elsewhere"), SkillBench(folder):
        raise AssertionError("it was loaded")


def test_a_functions_annotations_are_held(tmp_path, monkeypatch):
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    script = """\
        from typing import Literal, TypedDict

        class Counted(TypedDict):
            many: int

        def count(ctx, kind: Literal["cube", "sphere"], add: float = 0) -> Counted:
            "Counts."
            return {"many": len(ctx.port("scene.read").names()) + add}
    """
    entry = "tools:\n- name: count\n  required_capabilities: [scene.read]\n"
    files = {"tools.yaml": entry, "scripts/count.py": script}
    with SkillBench(write_skill(tmp_path, "typed", files=files)) as bench:
        assert bench.lint() == []
        assert bench.call("count", kind="cube") == {"many": 0}
        with pytest.raises((InvalidParams, ToolFailed), match="kind"):
            bench.call("count", kind="torus")
        with pytest.raises(ToolFailed, match="many"):
            bench.call("count", kind="cube", add=0.5)


@pytest.mark.parametrize("host", ["openusd", pytest.param("blender", marks=pytest.mark.slow)])
def test_every_bench_begins_with_an_empty_scene_unless_it_keeps_the_last_one(
    tmp_path, monkeypatch, host
):
    need("bpy" if host == "blender" else "pxr")
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    remember_skills()
    folder = write_skill(tmp_path / "skills", "my-skill", files=FILES)
    with SkillBench(folder, host=host) as first:
        assert first.call("count") == {"count": 0}
        first.call("add", name="a")
    with SkillBench(folder, host=host, keep_scene=True) as second:
        assert second.call("count") == {"count": 1}
    with SkillBench(folder, host=host) as third:
        assert third.call("count") == {"count": 0}


def test_the_clients_roots_and_what_the_artist_withdrew(tmp_path, monkeypatch):
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    files = {
        **FILES,
        "tools.yaml": FILES["tools.yaml"].rstrip()
        + "\n        - {name: where, description: d, required_capabilities: [filesystem.read]}\n",
        "scripts/where.py": """\
            def main(ctx, _workspace_roots):
                return {"handed": _workspace_roots.resolve("a"), "asked": ctx.roots.resolve("a")}
            """,
    }
    folder = write_skill(tmp_path / "skills", "my-skill", files=files)
    (show := tmp_path / "show").mkdir()
    with SkillBench(
        folder, roots=[str(show), tmp_path / "else"], withdrawn=["scene.mutate"]
    ) as bench:
        assert bench.call("where") == {"handed": str(show / "a"), "asked": str(show / "a")}
        with pytest.raises(CapabilityMissing, match=r"scene\.mutate"):
            bench.call("add", name="a")


@pytest.mark.slow
def test_a_skills_tests_see_no_skills_of_the_person_who_tests(tmp_path: Path) -> None:
    """The skills on which the tested skill depends are an exception, because everyone who serves it
    on this machine has them too."""
    others = write_skill(tmp_path / "others", "other-skill").parent
    write_skill(others, "needed-skill", files=FILES)
    tests = {
        "tests/conftest.py": "from callboard_testing.pytest_plugin import *\n",
        "tests/test_it.py": """\
            def test_it(callboard_skill):
                found = callboard_skill.call("skills__search", query="other skill")
                assert "other-skill" not in str(found)
                assert callboard_skill.call("needed_skill__count") == {"count": 0}
                assert callboard_skill.lint() == []
            """,
    }
    block = "tools: tools.yaml\ndepends: [needed-skill]"
    folder = write_skill(tmp_path / "skills", "my-skill", block=block, files={**FILES, **tests})
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)],
        env={**os.environ, "DCC_MCP_OPENUSD_SKILL_PATHS": str(others)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_tests_of_a_skill_for_another_host_are_skipped_with_what_runs_them(tmp_path: Path) -> None:
    tests = {
        "tests/conftest.py": "from callboard_testing.pytest_plugin import *\n",
        "tests/test_it.py": "def test_it(callboard_skill): pass\n",
    }
    block = "tools: tools.yaml\ndcc: blender"
    folder = write_skill(tmp_path / "skills", "my-skill", block=block, files={**FILES, **tests})
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", str(folder)],
        env={**os.environ, "CALLBOARD_TEST_HOST": "openusd"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    told = (
        "skill 'my-skill' is for blender, and these tests run in openusd: set CALLBOARD_TEST_HOST"
    )
    assert told in done.stdout
