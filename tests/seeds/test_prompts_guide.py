"""The snippet and the files of the guide to prompts work unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

SKILL = """---
name: maya-geometry
description: "Maya geometry primitives and editing."
metadata:
  dcc-mcp:
    dcc: maya
    prompts: prompts.yaml           # single file, or
    # prompts: prompts/*.prompt.yaml  # glob, one file per prompt
---
"""
PROMPTS = """
prompts:
  - name: bevel_all_edges
    description: "Bevel every selected edge with a consistent chamfer width."
    arguments:
      - name: chamfer_width
        description: "Chamfer width in Maya units."
        required: true
      - name: segments
        description: "Number of chamfer segments (default 2)."
        required: false
    template: |
      Use `maya_geometry__select_edges` to capture the current selection,
      then call `maya_geometry__bevel_edges` with width={{chamfer_width}}
      and segments={{segments}}. Verify the result with
      `dcc_diagnostics__screenshot` before saving.

workflows:
  - file: workflows/bake_proxies.workflow.yaml
    prompt_name: bake_proxies_summary   # optional rename
"""
WORKFLOW = """
name: bake_proxies
description: Bakes proxies.
steps:
  - {id: select, tool: maya_geometry__select_edges}
  - {id: bevel, tool: maya_geometry__bevel_edges}
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))


def test_dynamic_registration() -> None:
    from callboard import McpHttpConfig, McpHttpServer, ToolRegistry

    registry = ToolRegistry()
    server = McpHttpServer(registry, McpHttpConfig(port=8765))
    prompts = server.prompts()

    returned = prompts.register_prompt(
        name="bake_animation",
        description="Guide an agent through baking animation keys.",
        arguments=[
            {"name": "frame_start", "description": "First frame", "required": True},
            {"name": "frame_end", "description": "Last frame", "required": True},
        ],
        template="Bake the active animation from {{frame_start}} to {{frame_end}}.",
    )
    assert returned is None
    rendered = prompts.render("bake_animation", {"frame_start": "1", "frame_end": "24"})
    text = rendered["messages"][0]["content"]["text"]
    assert text == "Bake the active animation from 1 to 24."

    # Later dynamic updates are visible to subsequent prompts/list calls.
    prompts.unregister_prompt("bake_animation")
    assert "bake_animation" not in prompts.all().prompts
    prompts.clear()


def test_opting_out() -> None:
    from callboard import McpHttpConfig, create_skill_server

    cfg = McpHttpConfig(port=0)
    cfg.enable_prompts = False  # opt out — capability vanishes from initialize
    server = create_skill_server("maya", cfg)
    with server.start() as handle:
        assert handle.port > 0


@pytest.mark.parametrize("segments", ["3", None])
def test_the_bevel_example_renders(tmp_path: Path, segments: str | None) -> None:
    from callboard import scan_and_load
    from callboard.skills.prompts.files import read_prompts
    from callboard.skills.prompts.prompt import render

    skill = tmp_path / "skills" / "maya-geometry"
    (skill / "workflows").mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    (skill / "prompts.yaml").write_text(PROMPTS)
    (skill / "workflows" / "bake_proxies.workflow.yaml").write_text(WORKFLOW)
    skills, _ = scan_and_load(dcc_name="maya", extra_paths=[str(tmp_path / "skills")])
    geometry = next(one for one in skills if one.name == "maya-geometry")
    prompts, failures = read_prompts(geometry)
    assert not failures
    by_name = {prompt.name: prompt for prompt in prompts}
    assert set(by_name) == {"bevel_all_edges", "bake_proxies_summary"}
    arguments = {"chamfer_width": "0.2"}
    if segments is not None:
        arguments["segments"] = segments
    text = render(by_name["bevel_all_edges"], arguments)["messages"][0]["content"]["text"]
    assert "width=0.2" in text
    assert f"segments={segments or ''}." in text
    summary = render(by_name["bake_proxies_summary"], {})["messages"][0]["content"]["text"]
    assert summary.index("maya_geometry__select_edges") < summary.index(
        "maya_geometry__bevel_edges"
    )
