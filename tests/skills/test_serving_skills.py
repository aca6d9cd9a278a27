"""Skills while a server runs: new ones, broken ones and missing ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard.errors import SkillError
from callboard_programs.cli import main
from serving import Served, served, text_of
from skills.skill_tree import TWO_TOOLS, write_files, write_skill
from waiting import until

FINE = {"tools.yaml": TWO_TOOLS, "scripts/first.py": "def main(): return {'it': 'works'}\n"}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CALLBOARD_SKILL_PATHS", str(tmp_path / "skills"))
    write_skill(tmp_path / "skills", "old", files=FINE)
    with served(skills=True, announce=True) as running:
        yield running


def test_a_skill_that_comes_while_serving_can_be_called(server: Served, tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "late", files=FINE)
    until(lambda: "late__first" in server.app.tools, "the new skill's tools")
    with server.client() as client:
        assert client.call("late__first")["structuredContent"] == {"it": "works"}


def test_beyond_the_limit_it_waits_for_a_call(server: Served, tmp_path: Path) -> None:
    tools = "".join(f"  - {{name: t{number}, description: One.}}\n" for number in range(100))
    write_skill(tmp_path / "skills", "large", files={"tools.yaml": f"tools:\n{tools}"})
    until(lambda: len(server.app.catalog.known) and known(server, "large"), "the new skill")
    assert "large__t1" not in server.app.tools


def known(server: Served, name: str) -> bool:
    return any(each.skill.name == name for each in server.app.catalog.known)


def test_a_script_that_nobody_called_is_a_finding(
    server: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both the host's own messages and doctor report the script."""
    files = {**FINE, "scripts/second.py": "import json, no_such_module\n\ndef main() -> :\n"}
    write_skill(tmp_path / "skills", "broken", files=files)
    write_skill(
        tmp_path / "skills",
        "wants",
        files={**FINE, "scripts/second.py": "import no_such_module\n\n\ndef main(): pass\n"},
    )
    until(lambda: len(server.app.catalog.failures) >= 2, "the findings")
    shown = [failure.editor_line for failure in server.app.catalog.failures]
    assert any("scripts/second.py:3: can't be parsed" in line for line in shown)
    assert main(["doctor"]) == 1
    told = capsys.readouterr().out
    assert "WRONG fake" in told.replace("Fake", "fake")
    assert "skill broken, scripts/second.py, line 3: can't be parsed" in told
    assert "skill wants, scripts/second.py, line 1: imports 'no_such_module'" in told
    assert "Failure(" not in told
    assert str(tmp_path / "skills") not in told


def test_a_workflow_broken_while_serving_is_a_finding(
    server: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = "name: take\nsteps:\n- {tool: flows__first}\n"
    files = {**FINE, "take.workflow.yaml": good}
    block = "tools: tools.yaml\nworkflows: '*.workflow.yaml'"
    made = write_skill(tmp_path / "made", "flows", block=block, files=files)
    folder = made.rename(tmp_path / "skills" / "flows")
    until(lambda: "flows__first" in server.app.tools, "the new skill")
    near = good + "- {branch: '{{step_1.it}}', then: [{tool: flows__first}], els: []}\n"
    for text, told in (
        (good + "steps: [\n", "take.workflow.yaml:"),
        (near, "take.workflow.yaml:4: key 'els' isn't known; did you mean 'else'?"),
    ):
        (folder / "take.workflow.yaml").write_text(text)
        until(
            lambda told=told: [
                one for one in server.app.catalog.failures if one.editor_line.startswith(told)
            ],
            "the finding",
        )
        assert main(["doctor"]) == 1
        assert "skill flows, take.workflow.yaml, line " in capsys.readouterr().out
        with server.client() as client:
            described = client.call("skills__describe", {"name": "flows"})
            recent = client.request("resources/read", {"uri": "log://recent"})
        assert "take.workflow.yaml" in text_of(described)
        assert f"flows: {told}" in recent["result"]["contents"][0]["text"]
    (folder / "take.workflow.yaml").write_text(good)
    until(lambda: not server.app.catalog.failures, "the end of the finding")


def test_a_failure_of_older_code_says_that_it_is_older(server: Served, tmp_path: Path) -> None:
    files = {**FINE, "scripts/second.py": "def main():\n    raise ValueError('as it was')\n"}
    folder = write_skill(tmp_path / "skills", "edited", files=files)
    until(lambda: "edited__second" in server.app.tools, "the new skill")
    with server.client() as client:
        assert "aren't used" not in text_of(client.call("edited__second"))
        (folder / "scripts" / "second.py").write_text("def main(:\n    return 1\n")
        until(lambda: server.app.catalog.why_old("edited"), "the finding")
        first, *_, last = (block["text"] for block in client.call("edited__second")["content"])
    assert first == "ValueError: as it was"
    why = "'edited' runs older files, because the newest have a problem: scripts/sec"
    assert last.startswith(why)


def test_a_call_that_met_the_older_self_of_a_skill_runs_the_newer(
    server: Served, tmp_path: Path
) -> None:
    waiting = server.app.tools.get("old__first")
    script = tmp_path / "skills" / "old" / "scripts" / "first.py"
    script.write_text("def main(): return {'it': 'is newer'}\n")
    server.app.catalog.refresh()
    assert waiting.entry.function() == {"it": "is newer"}


def test_but_not_where_it_is_declared_otherwise_by_now(server: Served, tmp_path: Path) -> None:
    waiting = server.app.tools.get("old__first")
    tools = "tools: [{name: first, description: One., required_capabilities: [scene.mutate]}]"
    (tmp_path / "skills" / "old" / "tools.yaml").write_text(tools)
    server.app.catalog.refresh()
    with pytest.raises(SkillError, match="was unloaded; call the tool again"):
        waiting.load()


def test_a_call_that_older_code_answers_says_so_to_its_caller(
    server: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server.client() as client:
        assert "callboard/old" not in client.call("old__first").get("_meta", {})
        (tmp_path / "skills/old/scripts/first.py").write_text("def main(:\n    return 1\n")
        server.app.catalog.refresh()
        result = client.call("old__first")
    assert result["structuredContent"] == {"it": "works"}
    assert "the newest have a problem: scripts/first.py:1: " in result["_meta"]["callboard/old"]
    assert main(["call", "old__first"]) == 0
    assert "the newest have a problem: scripts/first.py:1: " in capsys.readouterr().err


@pytest.mark.parametrize("saved", ["tests/test_more.py", "scripts/second.py"])
def test_what_ran_goes_on_though_another_file_was_saved(
    server: Served, tmp_path: Path, saved: str
) -> None:
    folder, catalog = tmp_path / "skills/old", server.app.catalog
    with server.client() as client:
        client.call("old__first")
        write_files(folder, {saved: "def main(): pass\n"})
        catalog.refresh()
        write_files(tmp_path, {"broken.py": "def main(:\n    return 1\n"})
        # No client sees the skill before it is complete.
        (tmp_path / "broken.py").replace(folder / "scripts/first.py")
        catalog.refresh()
        result = client.call("old__first")
    assert result.get("structuredContent") == {"it": "works"}, text_of(result)
    assert "the newest have a problem: scripts/first.py:1: " in result["_meta"]["callboard/old"]


def test_what_was_saved_and_not_called_since_is_used_as_it_is(
    server: Served, tmp_path: Path
) -> None:
    script, catalog = tmp_path / "skills/old/scripts/first.py", server.app.catalog
    with server.client() as client:
        client.call("old__first")
        for text in ("def main(): return {'it': 'is newer'}\n", "def main(:\n    return 1\n"):
            script.write_text(text)
            catalog.refresh()
        told = text_of(client.call("old__first"))
    assert "'scripts/first.py' can't be imported: SyntaxError" in told


def test_a_broken_script_that_was_never_imported_is_not_called_older(
    server: Served, tmp_path: Path
) -> None:
    (tmp_path / "skills/old/scripts/first.py").write_text("def main(:\n    return 1\n")
    server.app.catalog.refresh()
    with server.client() as client:
        told = "".join(block["text"] for block in client.call("old__first")["content"])
    assert "'scripts/first.py' can't be imported: SyntaxError" in told
    assert "older" not in told


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        (f"{TWO_TOOLS}    input_schema: 3\n", "half/tools.yaml:6: tool 'second': "),
        (f"{TWO_TOOLS}  - [\n", "half/tools.yaml:"),
    ],
    ids=["entry", "file"],
)
def test_a_tool_whose_entry_is_broken_is_told_with_its_line(
    server: Served, tmp_path: Path, entries: str, told: str
) -> None:
    # The skill appears all at once, because no client may see it before it is complete.
    made = write_skill(tmp_path / "made", "half", files={**FINE, "tools.yaml": entries})
    made.rename(tmp_path / "skills" / "half")
    until(lambda: known(server, "half"), "the new skill")
    with server.client() as client, pytest.raises(Exception, match="until this is") as refused:
        client.call("half__second")
    assert told in str(refused.value)


def test_absent_tools_are_not_unknown(server: Served, tmp_path: Path) -> None:
    write_skill(
        tmp_path / "skills", "elsewhere", block="dcc: blender\ntools: tools.yaml", files=FINE
    )
    server.app.catalog.refresh()
    server.app.catalog.unload("old")
    with server.client() as client:
        for tool, told in (
            ("old__first", "isn't loaded; call skills__load with name 'old'"),
            ("elsewhere__first", "is for blender, not for"),
            ("elsewhere__third", "unknown tool"),
        ):
            with pytest.raises(Exception, match=told):
                client.call(tool)
        text = client.call("skills__load", {"name": "elsewhere"})
        assert "skill 'elsewhere' is for blender" in text["content"][0]["text"]
