"""What a skill's own tests can do."""

from __future__ import annotations

import pytest

from callboard.errors import CapabilityMissing, InvalidParams, SkillError
from callboard.testing.skill_bench import SkillBench, ToolFailed, skill_folder
from skills.skill_tree import write_skill

pytest.importorskip("pxr", reason="usd-core is not installed")

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


def test_lint_and_the_skill_of_a_file(bench):
    assert bench.lint() == []
    assert skill_folder(bench.folder / "tests" / "test_it.py") == bench.folder


def test_a_skill_that_cannot_be_loaded_says_why_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    block = "tools: tools.yaml\ndepends: [elsewhere]"
    folder = write_skill(tmp_path / "skills", "a", block=block, files=FILES)
    with pytest.raises(SkillError, match="elsewhere"), SkillBench(folder):
        raise AssertionError("it was loaded")
