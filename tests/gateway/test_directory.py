"""The gateway's data about a name describes the instance that has the name now."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest
from lying_host import lying_host

from callboard.transport import instances
from callboard_programs.gateway.directory import Directory
from callboard_programs.gateway.kept_names import forget
from callboard_programs.gateway.names import HostNames


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.run_until_complete(end_tasks())
    loop.close()


async def end_tasks() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def test_a_name_that_another_instance_has_now_tells_of_that_one(
    loop: asyncio.AbstractEventLoop,
) -> None:
    names = HostNames()
    directory = Directory(names, lambda topic: None)

    async def tools_of(name: str) -> list[str]:
        known = await directory.known(name)
        assert known is not None
        return [tool["name"] for tool in known.lists["tools"]]

    def tools(name: str) -> list[str]:
        return loop.run_until_complete(tools_of(name))

    with lying_host(scene="/a.usd"):
        names.refresh()
    names.refresh()
    with lying_host() as heir:
        heir.result = {"tools": [{"name": "of_the_heir"}]}
        heirs = names.refresh()["liar_2"].instance
        assert tools("liar_2") == ["of_the_heir"]
        instances.announce(replace(heirs, scene="/a.usd", opened=1))
        assert names.refresh()["liar"].instance.id == heir.id
        forget(["liar_2"])
        with lying_host() as newcomer:
            newcomer.result = {"tools": [{"name": "of_the_newcomer"}]}
            names.refresh()
            assert tools("liar_2") == ["of_the_newcomer"]
            directory.close()
            loop.run_until_complete(end_tasks())
