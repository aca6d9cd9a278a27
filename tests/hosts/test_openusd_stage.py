"""``ctx.stage``: a tool's access to the open stage, inside its call's undo step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard.errors import CapabilityMissing
from callboard_testing.skill_bench import SkillBench, ToolFailed
from needed import need
from skills.skill_tree import write_skill

need("pxr")

FILES = {
    "tools.yaml": """\
        tools:
        - {name: define, description: d, required_capabilities: [scene.mutate]}
        - {name: count, description: d, required_capabilities: [scene.read], affinity: main}
        - {name: careless, description: d}
        """,
    "scripts/define.py": """\
        def main(ctx, name, fail=False):
            ctx.stage.DefinePrim(f"/World/{name}", "Cube")
            if fail:
                raise ValueError("no good")
        """,
    "scripts/count.py": """\
        def main(ctx):
            return {"cubes": sum(p.GetTypeName() == "Cube" for p in ctx.stage.Traverse())}
        """,
    "scripts/careless.py": "def main(ctx):\n    return str(ctx.stage)\n",
}


@pytest.fixture
def skill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    return write_skill(tmp_path / "skills", "my-skill", files=FILES)


@pytest.fixture
def bench(skill: Path) -> Iterator[SkillBench]:
    with SkillBench(skill) as bench:
        yield bench


def test_what_is_changed_through_it_is_one_undo_step(bench: SkillBench) -> None:
    meta = bench.result("define", name="Box")["_meta"]
    assert bench.call("count") == {"cubes": 1}
    assert bench.call("scene__get_object", name="Box")["type"] == "cube"
    assert bench.host.undo is not None
    assert bench.host.undo.undo(meta["callboard/undo"])
    assert bench.call("count") == {"cubes": 0}


def test_what_a_tool_that_fails_changed_is_put_back(bench: SkillBench) -> None:
    with pytest.raises(ToolFailed, match="no good"):
        bench.call("define", name="Box", fail=True)
    assert bench.call("count") == {"cubes": 0}


def test_a_tool_that_declares_neither_is_told_what_to_declare(bench: SkillBench) -> None:
    with pytest.raises(ToolFailed, match=r"'scene\.read' without declaring it"):
        bench.call("careless")


def test_the_artist_may_have_withdrawn_it(skill: Path) -> None:
    with SkillBench(skill, withdrawn=["scene.read"]) as bench, pytest.raises(CapabilityMissing):
        bench.call("count")


@pytest.mark.slow
def test_elsewhere_it_says_what_to_use_instead(skill: Path) -> None:
    need("bpy")
    with (
        SkillBench(skill, host="blender") as bench,
        pytest.raises(ToolFailed, match="of Blender isn't a USD stage; import the application's"),
    ):
        bench.call("count")
