"""A bridge for clients that support only stdio: it reads and writes lines on one side, and speaks
HTTP to a host on the other. The client gets answers even while no host is running, and hosts may
come and go. The bridge runs on one asyncio loop. Two threads do nothing but read and write the
lines."""

from __future__ import annotations

import asyncio
import threading

from callboard_programs.bridge.bridge import Bridge, Lines
from callboard_programs.bridge.stdio_lines import LineWriter, claim, read_lines
from callboard_programs.relay.finder import Finder


async def _serve(finder: Finder, client: str | None) -> None:
    loop = asyncio.get_running_loop()
    lines: Lines = asyncio.Queue(64)
    source, sink = claim()

    def read() -> None:
        try:
            for line in read_lines(source):
                asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
            asyncio.run_coroutine_threadsafe(lines.put(EOFError()), loop).result()
        except (RuntimeError, asyncio.CancelledError):
            return  # The bridge has ended already.

    def reader_is_gone() -> None:
        loop.call_soon_threadsafe(serving.cancel)

    writer = LineWriter(sink, reader_is_gone)
    serving = asyncio.ensure_future(Bridge(finder, writer.send, client).run(lines))
    threading.Thread(target=read, name="stdin", daemon=True).start()
    try:
        await serving
    except asyncio.CancelledError:
        if not serving.cancelled():
            raise
    finally:
        writer.close()


def serve(finder: Finder, client: str | None = None) -> None:
    """Bridge this process's stdin and stdout to the host that ``finder`` finds, until stdin ends.
    ``client`` names the client whose token is presented. If it is None, the host's own token is
    presented."""
    asyncio.run(_serve(finder, client))
