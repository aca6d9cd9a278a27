"""Other people's tools pass the same gate, whatever they declare or leave out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from callboard.calls.entry import entry_of
from callboard.calls.tools import Tool
from callboard.errors import CAPABILITY_MISSING, REFUSED_BY_ARTIST
from callboard.skills.catalog import SkillCatalog
from callboard.skills.discovery import BUNDLED
from callboard.skills.load import load_skill
from callboard.skills.script_runners import runs_code
from callboard_testing.lint.skill_lint import lint
from serving import Served, served
from skills.skill_tree import write_skill
from waiting import until


def theirs(server: Served, **options: Any) -> None:
    """Add a skill whose tool accesses the scene without declaring a port."""

    def delete_object(name: str) -> dict[str, Any]:
        server.host.scene.create("cube", name, {})
        return {"success": True}

    entry = entry_of(delete_object, "delete_object", "theirs__delete_object")
    server.app.tools.add(
        Tool(
            "theirs__delete_object",
            "Deletes.",
            {"type": "object"},
            lambda: entry,
            skill="theirs",
            **options,
        )
    )


def test_a_tool_that_says_nothing_is_an_undo_step(server: Served) -> None:
    theirs(server)
    with server.client() as client:
        client.call("theirs__delete_object", {"name": "a"})
    assert server.host.undo_stack.steps == ["Callboard: theirs__delete_object"]


def test_a_tool_that_says_it_reads_is_none(server: Served) -> None:
    theirs(server, annotations={"readOnlyHint": True})
    with server.client() as client:
        client.call("theirs__delete_object", {"name": "a"})
    assert server.host.undo_stack.steps == []


@pytest.mark.parametrize(
    ("annotations", "refused"),
    [
        ({}, True),
        ({"readOnlyHint": False}, True),
        ({"destructiveHint": True}, True),
        ({"destructiveHint": False}, False),
        ({"readOnlyHint": True}, False),
    ],
)
def test_a_tool_that_says_nothing_passes_the_artists_rule_for_deleting(
    server: Served, annotations: dict[str, bool], refused: bool
) -> None:
    theirs(server, annotations=annotations)
    desk = server.app.dispatcher.consent
    server.on_main(lambda: desk.set_policy("destructive", "refuse"))
    with server.client() as client:
        call = {"name": "theirs__delete_object", "arguments": {"name": "a"}}
        answer = client.request("tools/call", call)
    if refused:
        assert answer["error"]["code"] == REFUSED_BY_ARTIST
    else:
        assert not answer["result"]["isError"]


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("name", "properties"),
    [
        ("execute_python", {}),
        ("execute-python", {}),
        ("executePython", {}),
        ("run_script", {}),
        ("run_mel_script", {}),
        ("execute_maxscript", {}),
        ("execute_hscript", {}),
        ("execute_python_file", {}),
        ("execute_blender_code", {}),
        ("eval_expression", {}),
        ("do_it", {"code": TEXT}),
        ("do_it", {"script": {}}),
        ("do_it", {"python": TEXT}),
        ("do_it", {"pythonCode": TEXT}),
        ("do_it", {"mel": {"type": ["string", "null"]}}),
        ("do_it", {"expression": TEXT}),
        ("do_it", {"script_path": TEXT}),
        ("do_it", {"snippet": {"type": "array", "items": TEXT}}),
    ],
)
def test_a_tool_that_runs_code_needs_script_execute(
    tmp_path: Path, name: str, properties: dict[str, Any]
) -> None:
    assert runs_code(name, {"type": "object", "properties": properties}) is not None
    files = {
        "tools.yaml": f"tools: [{{name: {name}, description: d, required_capabilities: [usd], "
        f"input_schema: {{type: object, properties: {properties!r}}}}}]",
        f"scripts/{name}.py": "def main(**arguments):\n    return {'ran': True}\n",
    }
    folder = write_skill(tmp_path / "skills", "theirs", files=files)
    with (
        served(skills=True, skill_paths=[str(tmp_path / "skills")], deny=["script.execute"]) as app,
        app.client() as client,
    ):
        client.call("skills__load", {"names": ["theirs"]})
        answer = client.request("tools/call", {"name": f"theirs__{name}", "arguments": {}})
    assert answer["error"]["code"] == CAPABILITY_MISSING
    assert "script.execute" in answer["error"]["data"]["missing"]
    assert [f for f in lint(folder) if "needs script.execute" in f.message]


@pytest.mark.parametrize(
    ("name", "properties"),
    [
        ("execute_render", {}),
        ("run_simulation", {}),
        ("evaluate_curve", {}),
        ("describe_script_nodes", {}),
        ("do_it", {"language_code": TEXT}),
        ("do_it", {"code": {"type": "integer"}}),
        ("do_it", {"expression": {"enum": ["smile", "frown"]}}),
        ("do_it", {"description": TEXT}),
    ],
)
def test_others_do_not(name: str, properties: dict[str, Any]) -> None:
    assert runs_code(name, {"type": "object", "properties": properties}) is None


def test_what_ships_runs_no_code_but_where_it_says_so() -> None:
    hosts = Path(__file__).resolve().parents[2] / "hosts"
    folders = [each.parent for root in (BUNDLED, hosts) for each in root.rglob("SKILL.md")]
    skills = [load_skill(folder) for folder in folders]
    assert "blender-data" in [each.name for each in skills]
    assert [
        (tool.name, tool.runs_code) for each in skills for tool in each.tools if tool.runs_code
    ] == []


def test_what_ships_is_not_replaced_and_the_artist_is_told(tmp_path: Path) -> None:
    for folder, description in (("shipped", "Ours."), ("user", "Theirs.")):
        text = f"---\nname: scene-tools\ndescription: {description}\n---\n"
        (tmp_path / folder / "scene-tools").mkdir(parents=True)
        (tmp_path / folder / "scene-tools" / "SKILL.md").write_text(text)
    paths = [(tmp_path / "user", "user"), (tmp_path / "shipped", "bundled")]
    catalog = SkillCatalog(paths)  # type: ignore[arg-type]
    catalog.refresh()
    assert catalog.get("scene-tools").description == "Ours."
    (failure,) = catalog.failures
    assert failure.skill == "scene-tools"
    assert "never replaced; give yours another name" in failure.message


def test_the_panel_shows_it_with_the_skill_that_is_used(tmp_path: Path) -> None:
    """The fake host has the bundled skills, ``scene`` among them."""
    (tmp_path / "scene").mkdir()
    (tmp_path / "scene" / "SKILL.md").write_text("---\nname: scene\ndescription: Mine.\n---\n")
    with served(skills=True, skill_paths=[str(tmp_path)]) as server:
        status = server.app.controls.status
        stop = status.watch(lambda snapshot: None)
        until(lambda: status.snapshot.skills, "the skills to be shown")
        (scene,) = [one for one in status.snapshot.skills if one.name == "scene"]
        stop()
    assert scene.description != "Mine."
    assert [line for line in scene.failures if "never replaced" in line]


def test_no_skill_of_ours_has_a_published_skills_name() -> None:
    """The published skills are those of the packages for dcc-mcp."""
    theirs = {"blender-geometry", "maya-geometry", "houdini-nodes", "blender-scripting"}
    hosts = Path(__file__).parents[2] / "hosts"
    ours = {path.parent.name for path in hosts.glob("*/skills/*/SKILL.md")}
    assert len(ours) >= 4
    assert not ours & theirs


FILE_NAMES = [
    "file_path",
    "filepath",
    "filename",
    "outputPath",
    "export_path",
    "file",
    "textures_dir",
]


@pytest.mark.parametrize("name", FILE_NAMES)
@pytest.mark.parametrize("affinity", ["main", "any"])
def test_under_strict_what_is_called_as_a_file_stays_inside_whatever_the_tool_says(
    tmp_path: Path, name: str, affinity: Any
) -> None:
    """The tool is like a published one, which marks no argument as a path, and declares nothing."""
    root, out = tmp_path / "root", tmp_path / "out"
    (root / "deep").mkdir(parents=True)
    out.mkdir()
    (root / "link").symlink_to(out)
    schema = {"type": "object", "properties": {name: {"type": "string"}}}
    with served(roots=[str(root)], roots_policy="strict") as server, server.client() as client:
        server.tool("theirs__write", lambda **given: given, schema, affinity=affinity)
        for leads_out in (
            *(
                f"{out}/a.txt",
                "../out/a.txt",
                "link/a.txt",
                f"{root}/link/a.txt",
                "~/a/../../x",
            ),
            *(f"file://{out}/a.txt", "workspace://../out/a.txt", "C:\\a.txt", "deep\\..\\..\\out"),
            *(f"//{out}/a.txt", f"{root}/deep/../../out/a.txt", "/etc/passwd"),
        ):
            call = {"name": "theirs__write", "arguments": {name: leads_out}}
            answer = client.request("tools/call", call)
            if "error" in answer:
                assert answer["error"]["code"] == -32602, leads_out
            else:
                given = answer["result"]["structuredContent"][name]
                assert given == f"{root}/x", leads_out
        for stays, opened in (
            (f"{root}/a.txt", root / "a.txt"),
            ("workspace://deep/a.txt", root / "deep" / "a.txt"),
            ("deep/a.txt", root / "deep" / "a.txt"),
        ):
            given = client.call("theirs__write", {name: stays})["structuredContent"][name]
            assert given == str(opened)


@pytest.mark.parametrize(
    ("name", "value"),
    [("node_path", "/obj/geo1"), ("prim_path", "/World/Cube"), ("folder", "Props"), ("path", "/a")],
)
def test_under_strict_what_may_be_no_file_is_left_as_it_is(
    tmp_path: Path, name: str, value: str
) -> None:
    schema = {"type": "object", "properties": {name: {"type": "string"}}}
    with served(roots=[str(tmp_path)], roots_policy="strict") as server, server.client() as client:
        server.tool("theirs__find", lambda **given: given, schema)
        given = client.call("theirs__find", {name: value})["structuredContent"]
    assert given == {name: value}


def test_a_path_of_a_tool_that_says_it_uses_files_stays_inside(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    with served(roots=[str(tmp_path)], roots_policy="strict") as server, server.client() as client:
        needs = ("filesystem.read",)
        server.tool("theirs__read", lambda **given: given, schema, required_capabilities=needs)
        call = {"name": "theirs__read", "arguments": {"path": "/etc/passwd"}}
        assert client.request("tools/call", call)["error"]["code"] == -32602
        assert not client.call("theirs__read", {"path": "a.txt"})["isError"]


@pytest.mark.parametrize("says", [{}, {"readOnlyHint": False}, {"readOnlyHint": True}])
def test_a_tool_that_a_program_registers_is_held_to_the_same(
    server: Served, says: dict[str, bool]
) -> None:
    def wipe() -> dict[str, Any]:
        server.host.scene.create("cube", "a", {})
        return {}

    server.tool("wipe", wipe, annotations=says)
    with server.client() as client:
        client.call("wipe")
        desk = server.app.dispatcher.consent
        server.on_main(lambda: desk.set_policy("destructive", "refuse"))
        answer = client.request("tools/call", {"name": "wipe", "arguments": {}})
    reads = says.get("readOnlyHint", False)
    assert server.host.undo_stack.steps == ([] if reads else ["Callboard: wipe"])
    assert ("error" in answer) is not reads
