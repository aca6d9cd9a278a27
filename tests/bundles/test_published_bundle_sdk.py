"""A bundle written with the published ``nimblebrain-bundle-sdk`` has callboard as its platform.

The SDK needs a different major version of ``mcp`` than our tests do, so the bundle runs in its own
environment, which is made on the first run and reused afterwards.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sdk_bundle import BUNDLE, SDK

from callboard.bundles.files.file_store import FileStore
from callboard.bundles.files.host_resources import (
    CAPABILITY,
    MAX_SIZE,
    METHODS,
    HostResourcesPlatform,
    advertisement,
)
from callboard.bundles.files.token_bucket import TokenBuckets
from callboard.errors import CallboardError
from e2e.client_environments import python_with

pytestmark = pytest.mark.slow


class Client:
    """As much of an MCP client as these tests need. It makes one request at a time, and answers the
    server's questions."""

    def __init__(self, extensions: dict[str, Any], platform: HostResourcesPlatform) -> None:
        self._platform = platform
        self._child = subprocess.Popen(
            [python_with(SDK), "-c", BUNDLE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._ids = 0
        capabilities = {"extensions": extensions}
        info = {"name": "test", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": info}
        self._request("initialize", params)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self._request("tools/call", {"name": tool, "arguments": arguments})
        assert not result.get("isError"), result
        return result["structuredContent"]  # type: ignore[no-any-return]

    def close(self) -> None:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.close()
        try:
            self._child.wait(10)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._child.stdout.close()

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._ids += 1
        self._send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        assert self._child.stdout is not None
        for line in self._child.stdout:
            message = json.loads(line)
            if message.get("method") in METHODS:
                self._send({"jsonrpc": "2.0", "id": message["id"], **self._answer(message)})
            elif message.get("id") == self._ids:
                return message["result"]  # type: ignore[no-any-return]
        raise AssertionError("the bundle ended without an answer")

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            result = self._platform.handle(
                message["method"], message.get("params"), workspace="mine", bundle="bundle"
            )
        except CallboardError as error:
            problem = {"code": error.code, "message": error.message, "data": error.data}
            return {"error": problem}
        return {"result": result}

    def _send(self, message: dict[str, Any]) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(message).encode() + b"\n")
        self._child.stdin.flush()


@pytest.fixture
def stores(tmp_path: Path) -> dict[str, FileStore]:
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.md").write_text(f"# {name}")
    return {n: FileStore([tmp_path / n], tmp_path / "uploads" / n) for n in ("mine", "theirs")}


@pytest.fixture
def client(stores: dict[str, FileStore]) -> Iterator[Client]:
    running = Client({CAPABILITY: advertisement()}, HostResourcesPlatform(stores.get))
    yield running
    running.close()


def test_it_reads_and_lists(client: Client, stores: dict[str, FileStore]) -> None:
    image = stores["mine"].put("a.png", b"\x89PNG", tags=["texture", "hero"])
    stores["mine"].put("b.png", b"\x89PNG", tags=["texture"])
    assert client.call("offered") == {"read": True, "list": True, "files": True}
    (note,) = client.call("listed", mime="text/markdown")["resources"]
    assert note["name"] == "notes.md"
    assert client.call("read", uri=note["uri"])["contents"][0]["text"] == "# mine"
    (listed,) = client.call("listed", tags=["texture", "hero"])["resources"]
    assert listed["uri"] == image.uri
    content = client.call("read", uri=image.uri)["contents"][0]
    assert (content["mimeType"], base64.b64decode(content["blob"])) == ("image/png", b"\x89PNG")
    assert len(client.call("listed")["resources"]) == 3


def test_it_gets_the_contracts_errors(client: Client, stores: dict[str, FileStore]) -> None:
    (foreign,) = stores["theirs"].list_files()
    for uri in (foreign.uri, "files://fl_" + "0" * 24):
        assert client.call("read", uri=uri) == {"code": -32002, "data": {"uri": uri}}
    wrong = client.call("read", uri="entities://x")
    assert wrong == {"code": -32602, "data": {"uri": "entities://x", "supported": ["files"]}}
    fits = stores["mine"].put("fits.bin", b"\0" * MAX_SIZE)
    content = client.call("read", uri=fits.uri)["contents"][0]
    assert len(base64.b64decode(content["blob"])) == MAX_SIZE
    large = stores["mine"].put("large.bin", b"\0" * (MAX_SIZE + 1))
    assert client.call("read", uri=large.uri) == {
        "code": -32005,
        "data": {"uri": large.uri, "size": MAX_SIZE + 1, "maxSize": MAX_SIZE},
    }


def test_it_learns_how_long_to_wait(stores: dict[str, FileStore]) -> None:
    buckets = TokenBuckets(clock=lambda: 0.0)
    client = Client({CAPABILITY: advertisement()}, HostResourcesPlatform(stores.get, buckets))
    try:
        stopped = client.call("burst", most=2000)
    finally:
        client.close()
    assert stopped == {"count": 1000, "answer": {"code": -32004, "data": {"retryAfterMs": 10}}}


@pytest.mark.parametrize("extensions", [{}, {CAPABILITY: {"read": {"enabled": False}}}])
def test_without_an_offer_it_sends_nothing(
    stores: dict[str, FileStore], extensions: dict[str, Any]
) -> None:
    client = Client(extensions, HostResourcesPlatform(stores.get))
    try:
        assert client.call("offered") == {"read": False, "list": False, "files": False}
        assert client.call("read", uri="files://x") == {"missing": CAPABILITY}
    finally:
        client.close()
