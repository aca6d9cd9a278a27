"""The MCP client over HTTP, in both eras, as its caller sees it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from callboard.errors import INVALID_PARAMS, HostError
from callboard.protocol.handshake import Dialect
from callboard_programs.client import Client, RemoteError
from callboard_programs.client.http import Endpoint
from callboard_programs.client.http_client import HttpClient
from serving import Served, served, text_of

T = TypeVar("T")
INFO = {"name": "test", "version": "1"}
#: Seconds. Only a failing test waits this long.
DEADLINE = 20.0


@pytest.fixture
def server() -> Any:
    with served() as running:
        yield running


def talking(
    server: Served, era: str, work: Callable[[HttpClient], Awaitable[T]], **options: Any
) -> T:
    """Run ``work`` with a connected client, and return its result."""

    async def main() -> T:
        talk = Dialect(INFO, True, {}) if era == "stateless" else None
        endpoint = Endpoint.at(server.app.url, server.app.token)
        client = HttpClient(endpoint, talk, **options)
        try:
            if talk is None:
                await client.open(INFO, {"elicitation": {}})
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(asyncio.wait_for(main(), DEADLINE))


ERAS = pytest.mark.parametrize("era", ["session", "stateless"])


@ERAS
def test_a_call_is_answered(server: Served, era: str) -> None:
    server.tool("double", lambda n: n * 2, {"type": "object", "properties": {"n": {}}})

    async def work(client: HttpClient) -> Any:
        return await client.request("tools/call", {"name": "double", "arguments": {"n": 21}})

    assert text_of(talking(server, era, work)) == "42"


@ERAS
def test_calls_at_once_get_their_own_answers(server: Served, era: str) -> None:
    server.tool("same", lambda n: n, {"type": "object", "properties": {"n": {}}})

    async def work(client: HttpClient) -> list[str]:
        calls = [
            client.request("tools/call", {"name": "same", "arguments": {"n": n}}) for n in range(20)
        ]
        return [text_of(result) for result in await asyncio.gather(*calls)]

    assert talking(server, era, work) == [str(n) for n in range(20)]


@ERAS
def test_an_error_is_raised_with_its_code(server: Served, era: str) -> None:
    async def work(client: HttpClient) -> None:
        await client.request("tools/call", {"name": "nothing", "arguments": {}})

    with pytest.raises(RemoteError, match="unknown tool") as raised:
        talking(server, era, work)
    assert raised.value.code == INVALID_PARAMS


@ERAS
def test_an_unknown_method_is_an_error_of_the_servers(server: Served, era: str) -> None:
    async def work(client: HttpClient) -> None:
        await client.request("no/such", {})

    with pytest.raises(RemoteError, match="Method not found"):
        talking(server, era, work)


@ERAS
def test_who_stops_waiting_cancels_the_call(server: Served, era: str) -> None:
    began, ended = threading.Event(), threading.Event()

    async def hang(ctx: Any) -> None:
        began.set()
        try:
            await asyncio.sleep(DEADLINE)
        finally:
            ended.set()

    server.tool("hang", hang)

    async def work(client: HttpClient) -> None:
        call = asyncio.ensure_future(
            client.request("tools/call", {"name": "hang", "arguments": {}})
        )
        assert await asyncio.to_thread(began.wait, DEADLINE)
        call.cancel()
        assert await asyncio.to_thread(ended.wait, DEADLINE)

    talking(server, era, work)


def test_the_server_may_ask_while_it_is_called(server: Served) -> None:
    async def ask(ctx: Any) -> str:
        answer = await ctx.elicit("How many?", {"type": "object", "properties": {}})
        return f"{answer.action}"

    server.tool("ask", ask)

    async def answer(method: str, params: Any) -> Any:
        assert method == "elicitation/create"
        assert params["message"] == "How many?"
        return {"action": "decline"}

    async def work(client: HttpClient) -> Any:
        return await client.request("tools/call", {"name": "ask", "arguments": {}})

    assert text_of(talking(server, "session", work, asked=answer)) == "decline"


def test_a_program_waits_and_hears_of_progress(server: Served) -> None:
    def slow(ctx: Any) -> Any:
        for done in (1, 2):
            ctx.progress(done, 2)
            yield

    server.tool("slow", slow)
    heard: list[Any] = []
    params = {"name": "slow", "arguments": {}, "_meta": {"progressToken": "p"}}
    with Client(server.app.url, server.app.token) as client:
        client.request("tools/call", params, lambda method, told: heard.append(told["progress"]))
        assert server.app.endpoint.sessions
    assert heard == [1, 2]
    assert len(server.app.endpoint.sessions) == 0


def test_a_wrong_token_is_said(server: Served) -> None:
    with pytest.raises(HostError, match="the server answered 401"), Client(server.app.url, "x"):
        pass


def test_nobody_there_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
        with pytest.raises(HostError, match=r"can't be reached.*callboard doctor"), Client(url, ""):
            pass


def test_a_server_that_falls_silent_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"
        with pytest.raises(HostError, match="silent"), Client(url, "", timeout=0.2):
            pass
