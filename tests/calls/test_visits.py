"""A tool that lets the artist work between its slices undoes its own changes, and no others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from callboard.host import SCENE_MUTATE
from callboard_testing.fake_client import FakeClient
from callboard_testing.fake_host import DEADLINE, FakeHost
from serving import Served, served

#: Two events: the tool sets the first between its two visits, and the test sets the second once the
#: artist has made a change.
Pause = tuple[threading.Event, threading.Event]


def a_generator(pause: Pause, error: Exception | None) -> Callable[..., object]:
    def build(ctx: Any) -> Iterator[None]:
        ctx.port(SCENE_MUTATE).create("cube", "first", {})
        yield
        pause[0].set()
        while not pause[1].is_set():
            yield
        ctx.port(SCENE_MUTATE).create("cube", "second", {})
        if error is not None:
            raise error

    return build


def a_coroutine(pause: Pause, error: Exception | None) -> Callable[..., object]:
    async def build(ctx: Any) -> None:
        create = ctx.port(SCENE_MUTATE).create
        await ctx.on_main_thread(create, "cube", "first", {})
        pause[0].set()
        await asyncio.to_thread(pause[1].wait, DEADLINE)
        await ctx.on_main_thread(create, "cube", "second", {})
        if error is not None:
            raise error

    return build


def call_beside(server: Served, client: FakeClient, tool: Any, error: Exception | None) -> Any:
    """Call a tool, make a change as the artist between the tool's two visits, and return the
    result."""
    pause = threading.Event(), threading.Event()
    server.tool("build", tool(pause, error), required_capabilities=(SCENE_MUTATE,))
    calling = client.start("tools/call", {"name": "build"})
    assert pause[0].wait(DEADLINE)
    server.on_main(lambda: server.host.scene.create("cube", "theirs", {}))
    pause[1].set()
    return calling.result(DEADLINE)["result"]


@pytest.mark.parametrize("tool", [a_generator, a_coroutine])
def test_what_the_artist_did_in_between_is_not_rolled_back(tool: Any) -> None:
    with served() as server, server.client() as client:
        result = call_beside(server, client, tool, ValueError("no room"))
        assert result["isError"] is True
        # The first visit can't be undone without also undoing the artist's later change.
        assert result["_meta"]["callboard/rolledBack"] is False
        assert server.on_main(server.host.scene.names) == ["/first", "/theirs"]


@pytest.mark.parametrize("tool", [a_generator, a_coroutine])
def test_an_undo_that_would_take_what_the_artist_did_is_not_offered(tool: Any) -> None:
    with served() as server, server.client() as client:
        result = call_beside(server, client, tool, None)
        assert result["isError"] is False
        assert "callboard/undo" not in result.get("_meta", {})
        assert server.host.undo_stack.steps == ["Callboard: build"] * 2


def test_a_host_that_cannot_join_steps_is_not_filled_with_them() -> None:
    class Separate(FakeHost):
        def __init__(self) -> None:
            super().__init__()
            self.undo_stack.joins = False

    def build(ctx: Any, count: int) -> Iterator[None]:
        for number in range(count):
            ctx.port(SCENE_MUTATE).create("cube", f"c{number}", {})
            yield

    with served(Separate) as server, server.client() as client:
        server.tool("build", build, required_capabilities=(SCENE_MUTATE,))
        assert not client.call("build", {"count": 16})["isError"]
        result = client.call("build", {"count": 17})
        assert "change more in each visit" in result["content"][0]["text"]
        assert result["_meta"]["callboard/rolledBack"] is True
        assert len(server.on_main(server.host.scene.names)) == 16
