"""Kills a server while an MCP client calls it, and looks for the calls that it had acknowledged.

PYTHONPATH=tests python -m e2e.killed_records --kills 20 --calls 5000
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
import tempfile
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from callboard.records.reader import Reader
from callboard.records.schema import DATABASE
from callboard.records.store import Store
from e2e.serving import Program, serve

TOOL = "probe__add"
#: Sessions that call at the same time.
CLIENTS = 2
#: Maximum seconds between a kill and the call that it was meant to hit.
SPREAD = 0.005


@dataclass(frozen=True)
class Outcome:
    """The numbers of one run. ``lost`` calls were acknowledged but aren't in the store. ``doubled``
    calls are in the store twice."""

    acknowledged: int
    recorded: int
    lost: list[int]
    doubled: list[int]


def killed_once(home: Path, calls: int, chance: random.Random) -> Outcome:
    """Run one server, and kill it at a random moment during its calls."""
    at = chance.randrange(1, calls)
    delay = chance.random() * SPREAD
    acknowledged: list[int] = []
    with serve(home, "--auth", "none") as host:
        hit = threading.Event()

        def kill() -> None:
            hit.wait()
            threading.Event().wait(delay)
            host.process.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            asyncio.run(call_until_it_dies(host, calls, at, acknowledged, hit))
        finally:
            hit.set()
            killer.join()
    return looked_up(home / "records", acknowledged)


async def call_until_it_dies(
    host: Program, calls: int, at: int, acknowledged: list[int], hit: threading.Event
) -> None:
    """Make numbered calls, each number once, and note the ones that were answered."""
    numbers = iter(range(calls))

    async def one_client() -> None:
        async with (
            streamable_http_client(host.url) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            for number in numbers:
                calling = session.call_tool(TOOL, {"a": number, "b": 0})
                answer = await asyncio.wait_for(calling, 10)
                if answer.structuredContent != {"sum": number}:
                    raise AssertionError(f"{number} was answered with {answer}")
                acknowledged.append(number)
                if len(acknowledged) >= at:
                    hit.set()

    async def until_it_dies() -> None:
        # Each client's library raises its own error when its server is gone.
        with suppress(Exception, asyncio.CancelledError):
            await one_client()

    tasks = [asyncio.create_task(until_it_dies()) for _ in range(CLIENTS)]
    await asyncio.to_thread(host.process.wait)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def looked_up(folder: Path, acknowledged: list[int]) -> Outcome:
    """Read the store as the killed process left it, and again after another process has opened it.
    Both times, it must contain the same calls."""
    left = numbers_in(folder)
    store = Store(folder)
    store.open()
    if not store.flush(30):
        raise AssertionError(f"the store can't be opened: {store.degraded}")
    store.close()
    folded = numbers_in(folder)
    if left != folded:
        raise AssertionError(
            "the store returned different calls before and after its journal was folded"
        )
    db = sqlite3.connect(folder / DATABASE)
    try:
        if db.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            raise AssertionError("the database is damaged")
    finally:
        db.close()
    lost = [number for number in acknowledged if folded[number] == 0]
    doubled = [number for number, count in folded.items() if count > 1]
    return Outcome(len(acknowledged), folded.total(), lost, doubled)


def numbers_in(folder: Path) -> Counter[int]:
    numbers: Counter[int] = Counter()
    cursor: str | None = None
    reader = Reader(folder)
    while True:
        page = reader.recent(limit=1000, cursor=cursor)
        numbers.update(call.arguments["a"] for call in page.calls if call.tool == TOOL)
        cursor = page.cursor
        if cursor is None:
            return numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    for number in range(arguments.kills):
        with tempfile.TemporaryDirectory() as home:
            outcome = killed_once(Path(home), arguments.calls, chance)
        print(
            f"kill {number + 1}: {outcome.acknowledged} acknowledged, {outcome.recorded} recorded, "
            f"{len(outcome.lost)} lost, {len(outcome.doubled)} doubled",
            flush=True,
        )
        if outcome.lost or outcome.doubled:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
