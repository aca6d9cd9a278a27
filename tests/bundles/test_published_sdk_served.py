"""callboard serves a bundle written with the published ``nimblebrain-bundle-sdk`` and fastmcp. The
bundle runs in its own environment, which is made on the first run and reused afterwards.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sdk_bundle import BUNDLE, SDK
from server_bundles import server_bundle

import callboard
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import FakeHost
from e2e.client_environments import python_with
from serving import Served, served, text_of
from waiting import until

pytestmark = pytest.mark.slow

LIMIT = 10 * 2**20

#: A bundle that imports callboard's public API, which needs nothing but Python.
OURS = f"""
import dataclasses
import sys

sys.path.insert(0, {str(Path(callboard.__file__).parent.parent)!r})

from {{package}} import Context, FastMCP
from callboard.extensions import HostResourceError, host

server = FastMCP("bundle")


async def told(asking) -> dict:
    try:
        return dataclasses.asdict(await asking)
    except HostResourceError as error:
        return {{{{"code": error.code, "data": error.data}}}}


@server.tool()
async def read(uri: str, ctx: Context) -> dict:
    return await told(host(ctx).read(uri))


@server.tool()
async def listed(mime: str, ctx: Context) -> dict:
    return await told(host(ctx).list(mime_type=mime))


@server.tool()
async def mistagged(ctx: Context) -> dict:
    return await told(host(ctx).list(tags="x"))


server.run()
"""
#: The standalone FastMCP package, and the version inside the ``mcp`` package.
FACES = {"fastmcp": (SDK, "fastmcp"), "mcp": ("mcp==1.30.0", "mcp.server.fastmcp")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of two workspaces, ``mine`` and ``theirs``."""
    folder = tmp_path_factory.mktemp("sdk")
    for name in ("mine", "theirs"):
        (folder / name).mkdir()
        (folder / name / f"{name}.md").write_text(f"# {name}")
    (folder / "mine" / "a.png").write_bytes(b"\x89PNG")
    return folder


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Served]:
    python = python_with(SDK)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CALLBOARD_HOME", str(folder / "home"))
        server_bundle(folder, name="sdk", python=python, script=BUNDLE, files=True)

        def in_a_project() -> FakeHost:
            host = FakeHost()
            host.project.append(str(folder / "mine"))
            return host

        with served(in_a_project, skills=True) as running:
            until(lambda: "sdk__read" in running.app.tools, "the bundle's tools")
            yield running


def somebody_else(running: Served, folder: Path) -> FakeClient:
    answer = {"roots": [{"uri": (folder / "theirs").as_uri()}]}
    return running.client({"roots": {}}, {"roots/list": lambda params: answer})


def value(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    result = client.call(f"sdk__{tool}", arguments)
    assert not result["isError"], text_of(result)
    content: dict[str, Any] = result["structuredContent"]
    return content


def test_it_reads_and_lists(running: Served) -> None:
    with running.client() as client:
        assert value(client, "offered") == {"read": True, "list": True, "files": True}
        (note,) = value(client, "listed", mime="text/markdown")["resources"]
        assert note["name"] == "mine.md"
        assert value(client, "read", uri=note["uri"])["contents"][0]["text"] == "# mine"
        (image,) = value(client, "listed", mime="image/png")["resources"]
        content = value(client, "read", uri=image["uri"])["contents"][0]
        assert base64.b64decode(content["blob"]) == b"\x89PNG"
        assert value(client, "listed", tags=["hero"])["resources"] == []


def test_tags_select(running: Served) -> None:
    keeper = running.app.bundles.keeper
    assert keeper is not None
    with running.client() as client:
        (image,) = value(client, "listed", mime="image/png")["resources"]
        store = next(iter(keeper.workspaces.stores()))
        store.tag(image["uri"].removeprefix("files://"), ["texture", "hero"])
        for tags, names in ((["hero"], ["a.png"]), (["hero", "other"], [])):
            resources = value(client, "listed", tags=tags)["resources"]
            assert [one["name"] for one in resources] == names


def test_it_gets_the_contracts_errors(running: Served, folder: Path) -> None:
    with running.client() as client, somebody_else(running, folder) as other:
        (foreign,) = value(other, "listed")["resources"]
        assert foreign["name"] == "theirs.md"
        for uri in (foreign["uri"], "files://fl_" + "0" * 24):
            assert value(client, "read", uri=uri) == {"code": -32002, "data": {"uri": uri}}
        wrong = value(client, "read", uri="entities://x")
        assert wrong == {"code": -32602, "data": {"uri": "entities://x", "supported": ["files"]}}


def test_ten_mebibytes_pass_and_one_byte_more_does_not(running: Served, folder: Path) -> None:
    (folder / "mine" / "fits.bin").write_bytes(b"\0" * LIMIT)
    (folder / "mine" / "large.bin").write_bytes(b"\0" * (LIMIT + 1))
    with running.client() as client:
        uris = {one["name"]: one["uri"] for one in value(client, "listed")["resources"]}
        size = value(client, "measured", uri=uris["fits.bin"])["size"]
        assert size == len(base64.b64encode(b"\0" * LIMIT))
        assert value(client, "read", uri=uris["large.bin"]) == {
            "code": -32005,
            "data": {"uri": uris["large.bin"], "size": LIMIT + 1, "maxSize": LIMIT},
        }


def test_a_burst_is_stopped_and_told_how_long_to_wait(running: Served, folder: Path) -> None:
    # The client has a separate workspace, so its requests are counted separately.
    with somebody_else(running, folder) as client:
        stopped = value(client, "burst", most=100_000)
        # A thousand requests at once, plus as many as were allowed in the meantime.
        assert stopped["count"] >= 1000
        assert stopped["answer"]["code"] == -32004
        assert 0 < stopped["answer"]["data"]["retryAfterMs"] <= 10


def test_progress_reaches_the_client(running: Served) -> None:
    with running.client() as client:
        params = {"name": "sdk__steps", "arguments": {}, "_meta": {"progressToken": 1}}
        client.request("tools/call", params)
        steps = client.wait_for("notifications/progress", 3)
        assert [one["params"]["progress"] for one in steps] == [1, 2, 3]


@pytest.mark.parametrize("face", FACES)
def test_callboards_own_face_reads_and_lists_in_a_fastmcp_tool(
    folder: Path, running: Served, face: str
) -> None:
    requirement, package = FACES[face]
    script = OURS.format(package=package)
    server_bundle(folder, name=face, python=python_with(requirement), script=script, files=True)
    running.app.bundles.keeper.refresh()
    until(lambda: f"{face}__read" in running.app.tools, "the bundle's tools")

    def own(tool: str, **arguments: Any) -> dict[str, Any]:
        result = client.call(f"{face}__{tool}", arguments)
        assert not result["isError"], text_of(result)
        answer: dict[str, Any] = json.loads(text_of(result))
        return answer

    with running.client() as client:
        (note,) = own("listed", mime="text/markdown")["resources"]
        assert note["name"] == "mine.md"
        assert own("read", uri=note["uri"])["contents"][0]["text"] == "# mine"
        assert own("read", uri="files://fl_" + "0" * 24)["code"] == -32002
        assert own("mistagged")["code"] == -32602


ASKING = """
from fastmcp import Context, FastMCP

server = FastMCP("asking")


@server.tool
async def greet(ctx: Context) -> str:
    answer = await ctx.elicit("Who?", response_type=str)
    return f"{answer.action}: {getattr(answer, 'data', None)}"


server.run()
"""


def test_a_tool_of_the_newest_fastmcp_elicits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = python_with("fastmcp>=4.1,<5")
    monkeypatch.setenv("CALLBOARD_HOME", str(tmp_path / "home"))
    server_bundle(tmp_path, name="asking", python=python, script=ASKING)
    answers = {
        "elicitation/create": lambda params: {"action": "accept", "content": {"value": "Ada"}}
    }
    with served(skills=True) as running:
        until(lambda: "asking__greet" in running.app.tools, "the bundle's tool")
        with running.client({"elicitation": {"form": {}}}, answers) as client:
            assert text_of(client.call("asking__greet")) == "accept: Ada"
