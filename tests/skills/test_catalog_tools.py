"""The answers about skills that agents get from the catalog's tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from serving import served
from skills.skill_tree import write_skill

TOOLS = "tools:\n- {name: go, description: Goes.}\n"
FILES = {"tools.yaml": TOOLS, "scripts/go.py": "def main(): return {}\n"}
PROJECT = Path(__file__).parents[2]
SHIPPED = [file for root in ("core", "hosts") for file in (PROJECT / root).rglob("tools.yaml")]


def empty_keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (str(key) for key, each in value.items() if each is None and key != "default")
    if isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from empty_keys(each)


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.parent.name)
def test_no_description_ends_at_its_comma(file: Path) -> None:
    assert [*empty_keys(yaml.safe_load(file.read_text("utf-8")))] == []


def test_a_skill_whose_files_broke_is_described_with_what_is_wrong(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, "s", files=FILES)
    with served(skills=True, skill_paths=[tmp_path]) as running, running.client() as client:
        (folder / "tools.yaml").write_text(TOOLS + "- {name: [", encoding="utf-8")
        running.app.catalog.refresh()
        told = client.call("skills__describe", {"name": "s"})["structuredContent"]
        assert [tool["name"] for tool in told["tools"]] == ["s__go"]
        assert [failure["reference"] for failure in told["failures"]] == ["tools.yaml"]
        assert not client.call("s__go")["isError"]


def test_loading_a_skill_that_is_loaded_tells_its_tools_too(tmp_path: Path) -> None:
    write_skill(tmp_path, "s", files=FILES)
    with served(skills=True, skill_paths=[tmp_path]) as running, running.client() as client:
        told = client.call("skills__load", {"name": "s"})["structuredContent"]
        assert told == {"loaded": [], "tools": ["s__go"]}


ASKING = """tools:
- {name: go, description: Goes., input_schema: {
    type: object, required: [path], properties: {width: {type: integer}, path: {type: string}}}}
"""


def test_a_hit_names_the_tools_arguments_and_marks_the_required_ones(tmp_path: Path) -> None:
    write_skill(tmp_path, "asking", files={**FILES, "tools.yaml": ASKING})
    with served(skills=True, skill_paths=[tmp_path]) as running, running.client() as client:
        hits = client.call("skills__search", {"query": "asking"})["structuredContent"]["hits"]
        told = {hit["name"]: hit.get("arguments") for hit in hits}
        assert (told["asking__go"], told["asking"]) == ("width, path*", None)


NEEDY = """tools:
- {name: see, description: Sees., required_capabilities: [viewport, scene.read]}
- {name: go, description: Goes.}
"""


def test_what_cannot_be_called_here_is_told_and_can_be_left_out(tmp_path: Path) -> None:
    scripts = {f"scripts/{name}.py": "def main(): return {}\n" for name in ("see", "go")}
    write_skill(tmp_path, "needy", files={"tools.yaml": NEEDY, **scripts})
    config = {"skills": True, "skill_paths": [tmp_path], "deny": ["viewport"]}
    with served(**config) as running, running.client() as client:

        def hits(**more: object) -> dict[str, object]:
            asked = {"query": "needy sees goes", "limit": 50, **more}
            told = client.call("skills__search", asked)["structuredContent"]["hits"]
            return {hit["name"]: hit.get("missing_capabilities") for hit in told}

        told = hits()
        assert told["needy__see"] == ["viewport"]
        assert told["needy__go"] is None
        assert told["needy"] is None  # One of the skill's tools can be called.
        assert "needy__see" not in hits(callable=True)
        assert "needy__go" in hits(callable=True)
        skill = client.call("skills__describe", {"name": "needy"})["structuredContent"]
        assert skill["missing_capabilities"] == ["viewport"]
        one = client.call("skills__describe", {"name": "needy", "tool": "see"})
        assert one["structuredContent"]["missing_capabilities"] == ["viewport"]
        for asked in ({"name": "needy__see"}, {"tool": "needy__see"}):
            assert client.call("skills__describe", asked) == one
        assert "a tool's" in client.call("skills__describe")["content"][0]["text"]
        see, go = skill["tools"]
        assert (see["missing_capabilities"], "missing_capabilities" in go) == (["viewport"], False)


DEFAULTS = """
def main(path="a", _workspace_roots="its own"):
    return {"roots": str(_workspace_roots)}
"""


def test_a_default_for_the_roots_stands_where_there_are_none(tmp_path: Path) -> None:
    tools = "tools:\n- {name: go, description: Goes., required_capabilities: [filesystem.watch]}\n"
    write_skill(tmp_path / "s", "r", files={"tools.yaml": tools, "scripts/go.py": DEFAULTS})
    declared = {"declared_capabilities": ["filesystem.watch"], "skill_paths": [tmp_path / "s"]}
    with served(skills=True, **declared) as running, running.client() as client:
        assert client.call("r__go")["structuredContent"] == {"roots": "its own"}
    declared["roots"] = [str(tmp_path)]
    with served(skills=True, **declared) as running, running.client() as client:
        assert "WorkspaceRoots" in client.call("r__go")["structuredContent"]["roots"]


def test_only_a_host_with_the_port_offers_what_a_shipped_tool_needs(tmp_path: Path) -> None:
    tools = "tools:\n- {name: go, description: Goes., required_capabilities: [look]}\n"
    write_skill(tmp_path, "own", files={**FILES, "tools.yaml": tools})
    config = {"declared_capabilities": ["look", "scene.read"], "skill_paths": [tmp_path]}
    with served(skills=True, **config) as running, running.client() as client:
        for skill, tool, missing in (("own", "go", None), ("viewport", "look", ["look"])):
            told = client.call("skills__describe", {"name": skill, "tool": tool})
            assert told["structuredContent"].get("missing_capabilities") == missing, skill


def test_a_tools_next_steps_are_listed(tmp_path: Path) -> None:
    tools = TOOLS.replace("Goes.", "Goes., next-tools: {on-success: [s__go]}")
    write_skill(tmp_path, "s", files={**FILES, "tools.yaml": tools})
    with served(skills=True, skill_paths=[tmp_path]) as running, running.client() as client:
        listed = client.request("tools/list")["result"]["tools"]
        (tool,) = (each for each in listed if each["name"] == "s__go")
        assert tool["_meta"]["dcc.next_tools"] == {"on-success": ["s__go"]}
