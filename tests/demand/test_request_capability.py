"""The reserved tool and the intent parameter are byte for byte those of the published package."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import mcpeye_package
import pytest

from callboard.demand import intent, request_capability

CORE = Path(__file__).parents[2] / "core"


@pytest.fixture
def published() -> dict[str, ModuleType]:
    try:
        importlib.metadata.distribution("mcpeye")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("mcpeye isn't installed: pip install mcpeye")
    return {name: mcpeye_package.load(name) for name in mcpeye_package.NAMES}


def to_bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def test_the_descriptor_is_the_published_one(published: dict[str, ModuleType]) -> None:
    theirs = published["request_capability"]
    assert to_bytes(request_capability.descriptor()) == to_bytes(
        theirs.request_capability_descriptor()
    )
    assert request_capability.ACK.encode() == theirs.REQUEST_CAPABILITY_ACK.encode()


def test_the_generated_module_is_up_to_date(published: dict[str, ModuleType]) -> None:
    assert mcpeye_package.TARGET.read_text(encoding="utf-8") == mcpeye_package.generate()


SCHEMAS: list[dict[str, Any]] = [
    {},
    {"type": "object"},
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    {"properties": {"a": {}}, "additionalProperties": False},
    {"type": "object", "properties": {"mcpeyeIntent": {"type": "integer"}}},
    {"type": "array", "items": {}},
    {"description": "no type"},
    {"type": "object", "properties": None},
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_intent_is_added_as_the_package_adds_it(
    published: dict[str, ModuleType], schema: dict[str, Any]
) -> None:
    before = to_bytes(schema)
    assert to_bytes(intent.add_intent(schema)) == to_bytes(
        published["intent"].inject_intent_param(schema)
    )
    assert to_bytes(schema) == before


def test_a_changed_descriptor_does_not_change_the_next() -> None:
    mine = request_capability.descriptor()
    mine["inputSchema"]["properties"].clear()
    mine["inputSchema"]["required"].clear()
    mine["name"] = "other"
    fresh = request_capability.descriptor()
    assert fresh["name"] == "mcpeye_request_capability"
    assert list(fresh["inputSchema"]["properties"]) == ["capability", "context"]
    assert fresh["inputSchema"]["required"] == ["capability"]
    assert request_capability.input_schema() == fresh["inputSchema"]
    assert request_capability.input_schema() is not request_capability.input_schema()


def test_an_added_intent_is_stripped_again() -> None:
    arguments = {"name": "sphere1", "mcpeyeIntent": "  wants a sphere "}
    assert intent.strip_intent(arguments) == ({"name": "sphere1"}, "wants a sphere")
    assert "mcpeyeIntent" in arguments


@pytest.mark.parametrize("value", ["", "  ", None, 7, ["x"], {"a": 1}])
def test_an_intent_that_says_nothing_is_none_and_still_stripped(value: Any) -> None:
    assert intent.strip_intent({"mcpeyeIntent": value}) == ({}, None)


def test_a_parameter_that_the_tool_declared_is_the_tools() -> None:
    schema = {"type": "object", "properties": {"mcpeyeIntent": {"type": "string"}}}
    assert intent.strip_intent({"mcpeyeIntent": "mine"}, schema) == ({"mcpeyeIntent": "mine"}, None)
    assert intent.strip_intent({"mcpeyeIntent": "x"}, {"properties": {}}) == ({}, "x")


@pytest.mark.parametrize(
    ("words", "missed"),
    [
        (
            "Lists objects to check names. The user wanted to export the scene as Alembic, "
            "but no export tool exists.",
            ["export the scene as Alembic"],
        ),
        ("The user cannot bake textures with these tools.", ["bake textures with these tools"]),
        ("There is no tool for rigging a biped; builds joints by hand.", ["rigging a biped"]),
        ("No fluid simulation tool is available, so approximates it.", ["fluid simulation"]),
        ("Missing capability: render to EXR. Uses PNG.", ["render to EXR"]),
        ("She couldn't find a way to unwrap UVs because nothing does it.", ["unwrap UVs"]),
        ("Creates a sphere as the base of the snowman the user asked for.", []),
        ("Renames the cube because the name is not unique.", []),
        ("", []),
    ],
)
def test_what_an_intent_says_was_missing(words: str, missed: list[str]) -> None:
    assert intent.missing_capabilities(words) == missed


@pytest.mark.timeout(20)
def test_a_hostile_intent_does_not_stop_the_report() -> None:
    for piece in ("wanted to ", "no a ", "cannot ", "missing ", "no tool for ", "but no ", ", "):
        intent.missing_capabilities(piece * 4000)


def test_neither_httpx_nor_pydantic_is_imported() -> None:
    code = (
        "import sys\n"
        "import callboard.demand.request_capability, callboard.demand.intent\n"
        "import callboard.records.store, callboard.demand.report, callboard.records.exporter\n"
        "print(sorted({'httpx', 'pydantic', 'mcpeye'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(CORE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "[]"
