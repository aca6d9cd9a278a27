"""The text that an agent reads when our own tools raise an error is a sentence, not a traceback."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import SkillError, WorkspaceResolveError, WrongArgument
from callboard_testing.skill_bench import SkillBench, ToolFailed
from needed import need
from serving import served
from skills.skill_tree import write_skill

CLASS_NAME = re.compile(r"^\w*(Error|NotFound|Name|Argument): ")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SkillBench]:
    need("pxr")
    folder = tmp_path_factory.mktemp("errors")
    with (
        pytest.MonkeyPatch.context() as patch,
        SkillBench(write_skill(folder / "skills", "mine"), roots=[folder]) as bench,
    ):
        patch.setenv("CALLBOARD_HOME", str(folder / "home"))
        for skill in ("assets", "cameras", "attributes", "structure", "materials", "lights"):
            bench.call("skills__load", name=skill)
        bench.call("scene__create_primitive", kind="cube", name="Crate")
        bench.call("structure__create_group", name="Cargo", objects=["Crate"])
        bench.call("materials__create", name="Rust", objects=["Crate"])
        yield bench


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("scene__get_object", {"name": "Crte"}, "nearest: Crate"),
        ("scene__transform", {"name": "Crate"}, "give at least one of"),
        ("scene__create_primitive", {"kind": "sphere", "size": 2}, "it has radius"),
        ("attributes__get", {"name": "Crate", "attribute": "siz"}, "; nearest: size"),
        ("materials__create", {"color": "redd"}, "#rrggbb"),
        ("materials__assign", {"name": "Rd", "objects": ["Crate"]}, "'Rd'"),
        ("lights__set_environment", {"path": "no.hdr"}, "there is no file 'no.hdr'"),
        ("cameras__create", {"clip": [2, 1]}, "with near less than far"),
        ("assets__search", {}, "give the folder of your assets"),
    ],
)
def test_a_wrong_argument_is_a_sentence(
    bench: SkillBench, tool: str, arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(ToolFailed) as failed:
        bench.result(tool, **arguments)
    (sentence,) = (block["text"] for block in failed.value.result["content"])
    assert told in sentence
    assert not CLASS_NAME.match(sentence)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("scene__get_object", {"name": "Zeppelin"}),
        ("attributes__get", {"name": "Crate", "attribute": "qqqq"}),
        ("structure__add_to_group", {"name": "Zeppelin", "objects": ["Crate"]}),
        ("materials__get", {"name": "Zeppelin"}),
    ],
)
def test_what_is_unlike_the_name_is_not_called_the_nearest(
    bench: SkillBench, tool: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(ToolFailed) as failed:
        bench.result(tool, **arguments)
    (sentence,) = (block["text"] for block in failed.value.result["content"])
    assert "; some of the existing names: " in sentence
    assert "nearest" not in sentence


def test_programs_are_told_the_kind_of_error(bench: SkillBench) -> None:
    with pytest.raises(ToolFailed) as failed:
        bench.result("scene__get_object", name="Crte")
    assert failed.value.result["_meta"]["callboard/error"] == "ObjectNotFound"


@pytest.mark.skipif(sys.platform == "win32", reason="on Windows such a file simply doesn't exist")
@pytest.mark.parametrize(
    ("tool", "argument"), [("assets__search", "folder"), ("lights__set_environment", "path")]
)
@pytest.mark.parametrize("name", ["A" * 256, "é" * 128, "workspace://" + "%41" * 256])
def test_a_name_that_no_file_can_have_is_refused_as_such(
    bench: SkillBench, tool: str, argument: str, name: str
) -> None:
    with pytest.raises(WorkspaceResolveError, match="a name of more than 255 bytes"):
        bench.result(tool, **{argument: name})


def test_a_bug_still_shows_the_lines_of_the_skill() -> None:
    def broken() -> Any:
        raise ValueError("nobody foresaw this")

    def foreseen() -> Any:
        raise SkillError("fix the rig first") from KeyError("spine")

    def wrong() -> Any:
        raise WrongArgument("give a rig")

    with served() as server, server.client() as client:
        for tool in (broken, foreseen, wrong):
            server.tool(tool.__name__, tool)
        first = client.call("broken")["content"]
        assert first[0]["text"] == "ValueError: nobody foresaw this"
        assert Path(__file__).name in first[1]["text"]
        assert client.call("foreseen")["content"][0]["text"] == "fix the rig first"
        assert client.call("wrong")["content"] == [{"type": "text", "text": "give a rig"}]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_a_sentence() -> None:
    def write() -> None:
        Path("/dev/full").write_text("more", "utf-8")

    with served() as server, server.client() as client:
        server.tool("probe__write", write)
        result = client.call("probe__write", {})
    assert result["isError"]
    told = "No space left on device; free some space there and repeat it"
    assert result["content"][0]["text"] == told
