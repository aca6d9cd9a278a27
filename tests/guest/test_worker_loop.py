"""The features that the loop under the guest adds to asyncio's own loop."""

from __future__ import annotations

import asyncio
import selectors
import threading

from guest_rig import until_cancelled

from callboard.guest.worker_loop import WorkerLoop


def test_what_an_ended_thread_began_on_the_loop_is_cancelled_at_its_end() -> None:
    loop = WorkerLoop(selectors.DefaultSelector())
    ended: list[str] = []

    async def begins() -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(until_cancelled(ended))
        await asyncio.sleep(0)  # The loop is waiting now.
        return task

    kept: list[asyncio.Task[None]] = []
    standing_in = threading.Thread(target=lambda: kept.append(loop.run_until_complete(begins())))
    standing_in.start()
    standing_in.join()
    loop.run_until_complete(loop.finish())
    loop.close()
    assert ended == ["cancelled"]
