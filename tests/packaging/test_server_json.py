"""``server.json``, by which the MCP registry lists callboard: as pyproject.toml and README.md have
it, and as the registry's schema of 2025-12-11 wants it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from build_requirements import PROJECT
from build_wheel import version
from callboard.cli import main

TEXTS = ("name", "title", "description", "version")


@pytest.fixture
def listed() -> dict[str, Any]:
    listed: dict[str, Any] = json.loads((PROJECT / "server.json").read_text("utf-8"))
    return listed


def stated(key: str) -> str:
    """What pyproject.toml says of the project."""
    text = (PROJECT / "pyproject.toml").read_text("utf-8")
    match = re.search(rf'(?m)^{key} = "([^"]+)"', text)
    assert match is not None
    return match[1]


def test_it_says_what_the_project_says(listed: dict[str, Any]) -> None:
    (package,) = listed["packages"]
    assert listed["version"] == package["version"] == version()
    assert listed["description"] == stated("description")
    assert package["identifier"] == listed["name"].partition("/")[2] == stated("name")


def test_the_readme_that_is_published_names_the_same_server(listed: dict[str, Any]) -> None:
    named = re.findall(r"mcp-name: (\S+)", (PROJECT / "README.md").read_text("utf-8"))
    assert named == [listed["name"]]


def test_the_registry_takes_it(listed: dict[str, Any]) -> None:
    """The rules of its schema for what stands in ours."""
    assert listed["$schema"].endswith("/2025-12-11/server.schema.json")
    assert listed.keys() == {"$schema", *TEXTS, "packages"}
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", listed["name"])
    assert 3 <= len(listed["name"]) <= 200
    assert all(0 < len(listed[key]) <= 100 for key in TEXTS[1:])
    (package,) = listed["packages"]
    assert (package["registryType"], package["transport"]) == ("pypi", {"type": "stdio"})
    assert all(each.keys() == {"type", "value"} for each in package["packageArguments"])


def test_what_a_client_would_start_is_a_command(
    listed: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [each["value"] for each in listed["packages"][0]["packageArguments"]]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert ended.value.code == 0
    assert "callboard stdio" in capsys.readouterr().out
