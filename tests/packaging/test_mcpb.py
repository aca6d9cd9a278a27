"""The bundle of the bridge has a correct manifest, and works on a machine that has nothing else."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import anyio
import fastjsonschema
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from build_mcpb import build_mcpb, manifest
from build_requirements import BuildError
from callboard_programs.cli import main
from e2e.client_environments import npm_with
from e2e.serving import DEADLINE, Program, callboard, environment

#: The official packer, which comes with the format's schema.
MCPB = "@anthropic-ai/mcpb"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return build_mcpb(tmp_path_factory.mktemp("built"))
    except BuildError as error:
        if "pip could not fetch" in str(error):
            pytest.skip(str(error))
        raise


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_its_manifest_is_as_the_format_says() -> None:
    packer = npm_with(f"{MCPB}@2") / "node_modules" / MCPB
    schema = packer / "schemas" / "mcpb-manifest-v0.3.schema.json"
    check = fastjsonschema.compile(json.loads(schema.read_text("utf-8")))
    check(manifest())
    with pytest.raises(fastjsonschema.JsonSchemaException):
        check({**manifest(), "colour": "red"})


def test_the_same_bytes_twice_with_licences(bundle: Path, tmp_path: Path) -> None:
    assert build_mcpb(tmp_path).read_bytes() == bundle.read_bytes()
    with zipfile.ZipFile(bundle) as archive:
        names = set(archive.namelist())
        packed = json.loads(archive.read("manifest.json"))
    assert packed == manifest()
    assert packed["server"]["entry_point"] in names
    assert {"licenses/LICENSE", "licenses/THIRD_PARTY.txt", "licenses/sbom.cdx.json"} <= names


def installed(bundle: Path, tmp_path: Path) -> StdioServerParameters:
    """Install the bundle as an application does, with a Python that has no other packages."""
    place = tmp_path / "Zoë's bundle"
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(place)
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "python")], check=True
    )
    programs = tmp_path / "python" / ("Scripts" if sys.platform == "win32" else "bin")
    config = json.loads((place / "manifest.json").read_text("utf-8"))["server"]["mcp_config"]
    config = {**config, **config["platform_overrides"].get(sys.platform, {})}
    arguments = [each.replace("${__dirname}", str(place)) for each in config["args"]]
    env = {**os.environ, "CALLBOARD_HOME": str(tmp_path / "home"), "PYTHONPATH": "nowhere"}
    ending = ".exe" if sys.platform == "win32" else ""
    program = str(programs / (config["command"] + ending))
    return StdioServerParameters(command=program, args=arguments, env=env)


async def created(server: StdioServerParameters) -> Any:
    """Return the result that the official client gets for making a cube."""
    with anyio.fail_after(DEADLINE):
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            cube = {"kind": "cube", "name": "Box"}
            return await session.call_tool("scene__create_primitive", cube)


def test_an_old_python_can_say_what_it_lacks(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        source = archive.read(manifest()["server"]["entry_point"])
    ast.parse(source, feature_version=(3, 7))
    before = source.partition(b"    from callboard")[0].decode()
    assert "3.10 or later" in before


@pytest.mark.slow
def test_it_reaches_a_host_until_it_is_revoked(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    server = installed(bundle, tmp_path)
    with Program(callboard("serve"), environment(home)):
        made = anyio.run(created, server)
        assert made.structuredContent["created"] == ["/World/Box"]
        monkeypatch.setenv("CALLBOARD_HOME", str(home))
        assert main(["clients", "revoke", "mcpb"]) == 0
        # When the bridge is started again, it isn't admitted automatically.
        refused = anyio.run(created, server)
        assert refused.isError
        assert "isn't allowed to connect" in refused.content[0].text
