"""``callboard gateway`` in front of two real hosts, with the official clients, and when a host is
killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname, urlopen

import pytest

from callboard_testing.fake_client import FakeClient
from e2e.client_environments import INSTALL_TIMEOUT, node_with, python_with
from e2e.serving import DEADLINE, SKILLS, Program, callboard, environment, serve
from e2e.test_official_clients import (
    CLIENTS,
    MCP_2,
    SESSIONS,
    STATELESS,
    TYPESCRIPT_1,
    TYPESCRIPT_2,
    assert_changes,
    assert_everything,
    seen_by,
)
from e2e.test_scene_over_http import blender_4_5, blender_5_0
from waiting import until

pytestmark = pytest.mark.timeout(INSTALL_TIMEOUT + 60)


@pytest.fixture(scope="module")
def gateway(home: Path) -> Iterator[Program]:
    with Program(callboard("gateway", "--port", "0"), environment(home)) as program:
        yield program


@pytest.fixture(scope="module")
def hosts(home: Path, gateway: Program) -> Iterator[list[Program]]:
    with serve(home) as first, serve(home) as second:
        yield [first, second]


def at(gateway: Program, name: str) -> FakeClient:
    return FakeClient(f"{gateway.url}/{name}", gateway.token)


@pytest.mark.usefixtures("hosts")
def test_the_official_clients_get_everything_through_it(gateway: Program, home: Path) -> None:
    url, token = f"{gateway.url}/openusd", str(gateway.token)
    command = [sys.executable, str(CLIENTS / "mcp_1.py"), url, token]
    assert_everything(seen_by(command, home), SESSIONS, -32002)
    modern = [python_with(MCP_2), str(CLIENTS / "mcp_2.py"), url, token, STATELESS]
    assert_everything(seen_by(modern, home), STATELESS, -32602)
    with at(gateway, "openusd_2") as other:
        listed = other.call("scene__list_objects")
        assert listed["structuredContent"]["objects"] == []


#: A client's command, its host, its era and transport, and its error code for "not found".
Work = tuple[list[str], str, str, str, int]


def each_kind() -> list[Work]:
    return [
        ([sys.executable, str(CLIENTS / "mcp_1.py")], "blender", SESSIONS, "", -32002),
        ([python_with(MCP_2), str(CLIENTS / "mcp_2.py")], "blender_2", STATELESS, "auto", -32602),
        (node_with(CLIENTS / "typescript.mjs", TYPESCRIPT_2), "openusd", STATELESS, "auto", -32602),
    ]


def typescript() -> list[Work]:
    script = CLIENTS / "typescript.mjs"
    first, second = node_with(script, TYPESCRIPT_1), node_with(script, TYPESCRIPT_2)
    return [
        (first, "blender", SESSIONS, "v1", -32002),
        (second, "blender_2", STATELESS, "auto", -32602),
        (second, "openusd", SESSIONS, "legacy", -32602),
    ]


@pytest.mark.parametrize("clients", [each_kind, typescript])
def test_official_clients_work_in_three_hosts_at_once(
    clients: Callable[[], list[Work]], tmp_path: Path
) -> None:
    work = clients()
    fourth, fifth = blender_4_5(), blender_5_0()
    with ExitStack() as stack:
        gateway = stack.enter_context(
            Program(callboard("gateway", "--port", "0"), environment(tmp_path))
        )
        # Names are assigned in the order in which hosts arrive.
        for python, kind in ((sys.executable, "openusd"), (fourth, "blender"), (fifth, "blender")):
            command = [python, "-m", "callboard", "serve", "--host", kind, "--skills", str(SKILLS)]
            stack.enter_context(Program(command, environment(tmp_path)))

        def seen(client: Work) -> dict[str, Any]:
            command, name, _, mode, _ = client
            address = [f"{gateway.url}/{name}", str(gateway.token)]
            return seen_by([*command, *address, *([mode] if mode else [])], tmp_path)

        with ThreadPoolExecutor(len(work)) as pool:
            for (command, _, revision, _, not_found), each in zip(
                work, pool.map(seen, work), strict=True
            ):
                if "typescript" in command[-1]:
                    assert_changes(each)
                assert "probe.greeting" in each["prompts"]  # Blender has more prompts.
                assert_everything({**each, "prompts": ["probe.greeting"]}, revision, not_found)
        for _, name, *_ in work:
            with at(gateway, name) as client:
                made = client.call("scene__list_objects")["structuredContent"]["objects"]
                assert [each["name"] for each in made if "watched" in each["name"]] == ["watched"]


def test_a_killed_host_is_told_of_soon_and_its_return_is_not_noticed(
    gateway: Program, home: Path, hosts: list[Program], tmp_path: Path
) -> None:
    scene = tmp_path / "hero.usda"
    scene.write_text("#usda 1.0\n", "utf-8")
    third = serve(home, "--scene", str(scene)).__enter__()
    client = at(gateway, "openusd_3")
    until(
        lambda: "result" in client.initialize() and bool(client.call("probe__add", ONE)),
        "the new host to answer",
    )
    client.notify("notifications/initialized")
    client.listen()

    waiting = client.start("tools/call", call("probe__wait", progress=True))
    client.wait_for("notifications/progress")
    third.kill()
    lost = waiting.result(DEADLINE)["result"]
    assert lost["isError"]
    assert "how far the call got is not known" in str(lost)
    # The host's process may outlive its sockets by a moment.
    until(
        lambda: "openusd_3 is gone" in str(client.call("probe__add", ONE)), "the end of openusd_3"
    )

    with serve(home), serve(home, "--scene", str(scene)):
        client.wait_for("notifications/tools/list_changed")
        assert client.call("probe__add", ONE)["structuredContent"] == {"sum": 3}
        opened = client.call("scene__scene_info")["structuredContent"]
        assert Path(opened["file"]) == scene
    client.close()


ONE = {"a": 1, "b": 2}


def call(tool: str, *, progress: bool = False) -> dict[str, Any]:
    meta = {"_meta": {"progressToken": "t"}} if progress else {}
    return {"name": tool, "arguments": {}, **meta}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no variable for its browser")
def test_its_page_opens_in_the_browser_of_the_user(tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}"\n')
    browser.chmod(0o700)
    env = {**environment(tmp_path / "home"), "BROWSER": str(browser)}
    command = callboard("gateway", "--open")
    with Program(callboard("gateway", "--port", "0"), env) as gateway:
        done = subprocess.run(command, env=env, timeout=DEADLINE, check=True, capture_output=True)
        told = f"once, within ten minutes: {gateway.url.removesuffix('mcp')}page/enter?code="
        assert told.encode() in done.stderr
        page = Path(url2pathname(urlsplit(opened.read_text().strip()).path))
        link = page.read_text().partition("url=")[2].partition('"')[0]
        with urlopen(link) as answer:
            assert answer.status == 200
            assert "SameSite=Strict" in answer.headers["Set-Cookie"]
