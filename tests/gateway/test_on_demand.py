"""One gateway runs while it is needed, and ends when it no longer is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest
from gateway_thread import running_gateway
from test_names import open_scene

from callboard.clients.holder import new_token
from callboard.errors import HostError
from callboard.transport import instances
from callboard.transport.http.listener import bound
from callboard.transport.instances import Instance
from callboard_programs.gateway import running_gateway as running
from callboard_programs.gateway.kept_address import KeptAddress, keep_address
from callboard_programs.gateway.running_gateway import started_gateway
from e2e.serving import DEADLINE
from serving import served, text_of
from waiting import until


@pytest.fixture
def port(home: Path) -> Iterator[int]:
    """Yield the port on which the gateways of this test listen. The gateways are ended after the
    test."""
    taken = bound("127.0.0.1", 0, 1)
    port: int = taken.getsockname()[1]
    taken.close()
    keep_address(KeptAddress(port, new_token()))
    yield port
    for gateway in instances.announced(running.folder()):
        os.kill(gateway.pid, signal.SIGTERM)
    until(lambda: not list(running.folder().glob("*.json")), "the gateway's end")


def test_it_ends_once_neither_an_instance_nor_a_client_needs_it(home: Path) -> None:
    with running_gateway(idle=0.3) as gateway:
        with served(announce=True) as first:
            open_scene(first, "/scenes/hero.usd")
            client = gateway.client("fake")
            client.initialize()
        # The client's conversation may go on with the next gateway.
        with served(announce=True) as heir:
            open_scene(heir, "/scenes/hero.usd")
            heir.tool("who", lambda: "heir")
            assert text_of(client.call("who")) == "heir"
        client.close()
        gateway.thread.join(DEADLINE)
        assert not gateway.thread.is_alive()
    assert not list(running.folder().glob("*.json"))


@pytest.mark.slow
def test_two_that_start_it_at_once_get_the_same_one(port: int) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: started_gateway(), range(2))
    assert first == second == started_gateway()
    assert first.url == f"http://127.0.0.1:{port}/mcp"


def test_who_has_the_port_of_one_that_was_killed_is_not_shown_its_token(home: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait(DEADLINE)
    with served() as stranger:
        gone = Instance("f" * 16, "gateway", "Gateway", stranger.app.url, "t", process.pid, 0.0)
        instances.announce(gone, running.folder())
        assert running.running_gateway() is None
    assert not list(running.folder().glob("*.json"))


@pytest.mark.slow
def test_a_port_that_another_program_has_is_told_of(port: int) -> None:
    taken = bound("127.0.0.1", port, 1)
    try:
        with pytest.raises(HostError, match=f"can't listen on port {port}"):
            started_gateway()
    finally:
        taken.close()


@pytest.mark.slow
def test_the_bridge_starts_it_again_whenever_it_is_gone(home: Path, port: int) -> None:
    from e2e.test_stdio import Heard, bridged, text  # importing MCP's SDK takes a while

    async def work() -> None:
        heard = Heard()
        async with bridged(home, heard, "--gateway", "--instance", "fake") as session:
            assert text(await session.call_tool("who", {})) == "here"
            first = started_gateway()
            os.kill(first.pid, signal.SIGTERM)
            await heard.lists_changed()
            assert text(await session.call_tool("who", {})) == "here"
            assert started_gateway().id != first.id

    with served(announce=True) as host:
        host.tool("who", lambda: "here")
        anyio.run(work)
