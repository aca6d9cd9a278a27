"""``server.json`` describes callboard to the MCP registry. It agrees with pyproject.toml and
README.md, conforms to the registry's schema of 2025-12-11, and passes the registry's other checks.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest

from build_requirements import PROJECT
from build_wheel import version
from callboard_programs.cli import main
from e2e.client_environments import python_with

#: A linter that comes with the registry's schemas as published, and one of those schemas with its
#: digest.
LINTER = "skillsaw==0.22.0"
SCHEMA = "schemas/mcp_registry/v2025_12_11/server.schema.json"
SHA256 = "3fba09590c99f61735d234822279f4223fab9e300c0a81e81c91ab62a4114de0"

TEXTS = ("name", "title", "description", "version")


@pytest.fixture
def listed() -> dict[str, Any]:
    listed: dict[str, Any] = json.loads((PROJECT / "server.json").read_text("utf-8"))
    return listed


def stated(key: str) -> str:
    """Return the value of a key in pyproject.toml."""
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


def test_the_registry_accepts_it(listed: dict[str, Any]) -> None:
    """Our file passes the checks that the registry makes when a server is published."""
    assert listed["$schema"].endswith("/2025-12-11/server.schema.json")
    assert listed.keys() == {"$schema", *TEXTS, "packages"}
    word = "[a-zA-Z0-9](?:[a-zA-Z0-9{}-]*[a-zA-Z0-9])?"
    assert re.fullmatch(f"{word.format('.')}/{word.format('._')}", listed["name"])
    assert 3 <= len(listed["name"]) <= 200
    assert all(0 < len(listed[key].strip()) <= 100 for key in TEXTS[1:])
    (package,) = listed["packages"]
    assert (package["registryType"], package["transport"]) == ("pypi", {"type": "stdio"})
    assert package["registryBaseUrl"] == "https://pypi.org"
    assert not re.search(r"\s", package["identifier"])
    # The version must be a single version, not a range.
    assert re.fullmatch(r"\d+\.\d+\.\d+(?:[.-]?[a-z]+\d*)?", package["version"])
    assert all(each.keys() == {"type", "value"} for each in package["packageArguments"])


@pytest.mark.timeout(600)
def test_it_is_as_the_official_schema_says(listed: dict[str, Any]) -> None:
    find = "import skillsaw; print(skillsaw.__path__[0])"
    place = subprocess.check_output([python_with(LINTER), "-c", find], text=True).strip()
    schema = (Path(place) / SCHEMA).read_bytes()
    assert hashlib.sha256(schema).hexdigest() == SHA256
    check = fastjsonschema.compile(json.loads(schema))
    check(listed)
    wrong: list[dict[str, Any]] = [
        {"name": "callboard"},
        {"description": "x" * 101},
        {"packages": [{}]},
        {"packages": [{**listed["packages"][0], "version": "latest"}]},
    ]
    for each in wrong:
        with pytest.raises(fastjsonschema.JsonSchemaException):
            check({**listed, **each})


def test_what_a_client_would_start_is_a_command(
    listed: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [each["value"] for each in listed["packages"][0]["packageArguments"]]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert ended.value.code == 0
    assert "callboard stdio" in capsys.readouterr().out
