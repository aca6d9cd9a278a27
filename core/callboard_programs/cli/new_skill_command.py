"""``callboard new-skill``: writes a skill to start from, which works and passes its own tests."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec

from callboard.skills.new_folder import write_folder
from callboard_programs.cli.new_bundle_command import add_parent, tell_made

#: The packages that the new skill's tests need, each with the name of its module.
_FOR_TESTS = {"pytest": "pytest", "usd-core": "pxr"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="lower case, with hyphens: shot-tools")
    add_parent(parser)
    parser.add_argument(
        "--from-calls",
        nargs="*",
        action="extend",
        metavar="ID",
        help="make it from these recorded calls; without ids, from the newest conversation",
    )
    parser.add_argument("--since", default="7d", help="with --from-calls: how far to look back")
    parser.add_argument("--json", action="store_true", help="{folder, next}, one JSON object")


def run(arguments: argparse.Namespace) -> int:
    if arguments.from_calls is None:
        wire = arguments.name.replace("-", "_")
        texts = {
            path.replace("WIRE", wire): text.replace("NAME", arguments.name).replace("WIRE", wire)
            for path, text in _FILES.items()
        }
        folder = write_folder(arguments.parent, arguments.name, texts)
    else:
        from callboard_programs.cli.skill_from_calls import (
            make,  # This imports the records and every skill.
        )

        folder = make(arguments.parent, arguments.name, arguments.from_calls, arguments.since)
    following = {
        "check": f"callboard lint {folder}",
        "test": f"{_python()} -m pytest {folder}",
        "serve": f"callboard serve --skills {folder.parent}",
    }
    tell_made(folder, following, as_json=arguments.json)
    missing = [name for name, module in _FOR_TESTS.items() if find_spec(module) is None]
    if missing:
        print(
            f"Before you run its tests: {_python()} -m pip install {' '.join(missing)}",
            file=sys.stderr,
        )
    return 0


def _python() -> str:
    """Return the path of this Python, quoted for a shell. Another Python may be first in PATH, but
    callboard is installed for this one."""
    return f'"{sys.executable}"' if " " in sys.executable else sys.executable


_FILES = {
    "SKILL.md": """\
---
name: NAME
description: >-
  Says in a sentence or two what the skill does, and when an agent should use it.
metadata:
  dcc-mcp:
    version: "0.1.0"
    tags: [example]
    search-hint: count objects, place a marker
    tools: tools.yaml
    prompts: prompts.yaml
    workflows: "*.workflow.yaml"
---

# NAME

What an agent should know before it uses these tools: conventions, units, what to call first.
""",
    "tools.yaml": """\
tools:
  - name: count_objects
    description: Counts the objects whose name contains a given text, or all objects.
    source_file: scripts/read.py
    required_capabilities: [scene.read]
    annotations: {read_only_hint: true}
    input_schema:
      type: object
      properties:
        containing: {type: string, description: Part of the name}
      additionalProperties: false
    output_schema:
      type: object
      properties: {count: {type: integer, minimum: 0}}
      required: [count]

  - name: place_marker
    description: Places a small sphere as a marker.
    source_file: scripts/change.py
    required_capabilities: [scene.read, scene.mutate]
    annotations: {destructive_hint: false}
    input_schema:
      type: object
      properties:
        name: {type: string, minLength: 1}
        position:
          type: array
          items: {type: number}
          minItems: 3
          maxItems: 3
          description: x, y, z in scene units
      required: [name]
      additionalProperties: false
""",
    "prompts.yaml": """\
prompts:
  - name: mark
    description: Mark places in the scene.
    arguments:
      - {name: what, description: What to mark, required: true}
      - {name: prefix, description: How the markers' names begin, default: marker}
    template: |
      Mark {{what}} in the scene. Find the places first, then place one marker for each with
      WIRE__place_marker, and name them {{prefix}}_1, {{prefix}}_2 and so on.
""",
    "mark_corners.workflow.yaml": """\
name: mark_corners
description: Places a marker at every corner of a square.
inputs:
  corners:
    type: array
    items: {type: array, items: {type: number}}
    default: [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]]
steps:
  - id: corners
    foreach: "{{inputs.corners}}"
    as: corner
    steps:
      - id: marker
        tool: WIRE__place_marker
        args: {name: corner, position: "{{corner}}"}
  - id: total
    tool: WIRE__count_objects
    args: {containing: corner}
""",
    "scripts/read.py": '''\
"""Tools that read the scene."""


def count_objects(ctx, containing=""):
    names = ctx.port("scene.read").names()
    return {"count": sum(containing in name.rsplit("/", 1)[-1] for name in names)}
''',
    "scripts/change.py": '''\
"""Tools that change the scene. Each call is one undo step; an error rolls it back."""


def place_marker(ctx, name, position=None):
    editor = ctx.port("scene.mutate")
    path = editor.create("sphere", name, {"radius": 0.1})
    if position is not None:
        editor.set_transform(path, position, None, None)
    placed = ctx.port("scene.read").get(path)
    return {"path": path, "position": list(placed["translate"])}
''',
    "tests/conftest.py": """\
from callboard_testing.pytest_plugin import *  # noqa: F403
""",
    "tests/test_WIRE.py": '''\
"""Run with pytest. Every test gets the skill on an empty scene."""

import pytest
from callboard_testing.skill_bench import ToolFailed


def test_it_is_well_made(callboard_skill):
    assert callboard_skill.lint() == []


def test_a_marker_is_placed(callboard_skill):
    placed = callboard_skill.call("place_marker", name="here", position=[1, 2, 3])
    assert placed["position"] == [1, 2, 3]
    assert callboard_skill.call("count_objects", containing="here") == {"count": 1}


def test_a_marker_needs_a_name(callboard_skill):
    with pytest.raises(ToolFailed, match="name"):
        callboard_skill.call("place_marker")


def test_the_prompt_names_the_tool(callboard_skill):
    assert "WIRE__place_marker" in callboard_skill.prompt("mark", what="every lamp")


def test_the_workflow_marks_four_corners(callboard_skill):
    run = callboard_skill.workflow("mark_corners")
    assert run["steps"][-1]["result"] == {"count": 4}
''',
}
