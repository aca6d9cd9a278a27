"""A TCP server for the doubles of other programs. It leaves no connection open when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

#: Iterations of the loop after which asyncio reports a connection that it has accepted.
_TURNS_TO_COME_IN = 3

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


class DoubleServer:
    """Answers each connection in a separate task. Start and stop it on the same loop."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._server: asyncio.Server
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def start(self) -> int:
        """Listen on a free port of this machine, and return the port."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._answer(reader, writer))
        self._connections[task] = writer

    async def stop(self) -> None:
        """Close the port and every connection, including those that are being accepted."""
        loop = asyncio.get_running_loop()
        for listening in self._server.sockets:
            with suppress(NotImplementedError):  # Windows' own loop accepts in one iteration
                loop.remove_reader(listening.fileno())
        for _ in range(_TURNS_TO_COME_IN):
            await asyncio.sleep(0)
        self._server.close()
        for task, writer in self._connections.items():
            task.cancel()
            writer.transport.abort()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await asyncio.sleep(0)  # asyncio closes the aborted connections in this iteration
