"""What agents are told about skills by the catalog's tools."""

from __future__ import annotations

from pathlib import Path

from serving import served
from skills.skill_tree import write_skill

TOOLS = "tools:\n- {name: go, description: Goes.}\n"
FILES = {"tools.yaml": TOOLS, "scripts/go.py": "def main(): return {}\n"}


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
