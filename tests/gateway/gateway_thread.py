"""Runs a gateway in a separate thread, for the instances that the test announces."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from callboard_programs.gateway.gateway import Gateway
from callboard_testing.fake_client import Answerer, FakeClient
from callboard_testing.fake_host import DEADLINE


class RunningGateway:
    def __init__(self, gateway: Gateway, thread: threading.Thread) -> None:
        #: This thread runs for as long as the gateway is serving.
        self.thread = thread
        self.url = gateway.url
        self.remote_url = gateway.remote_url
        self.token = gateway.token

    def client(
        self,
        name: str = "",
        capabilities: dict[str, Any] | None = None,
        answers: Mapping[str, Answerer] | None = None,
        **options: Any,
    ) -> FakeClient:
        """Return a client of ``/mcp/<name>``, or of ``/mcp``."""
        url = f"{self.url}/{name}" if name else self.url
        options.setdefault("token", self.token)
        return FakeClient(url, capabilities=capabilities, answers=answers, **options)


@contextmanager
def running_gateway(port: int | None = 0, **options: Any) -> Iterator[RunningGateway]:
    ready = threading.Event()
    made: list[Gateway] = []
    stop: list[Callable[[], object]] = []

    async def serve() -> None:
        loop, ending = asyncio.get_running_loop(), asyncio.Event()
        stop.append(lambda: loop.call_soon_threadsafe(ending.set))
        made.append(Gateway(port, **options))
        await made[0].serve(ready.set, ending)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="gateway", daemon=True)
    thread.start()
    try:
        assert ready.wait(DEADLINE)
        yield RunningGateway(made[0], thread)
    finally:
        if thread.is_alive():  # otherwise the gateway ended on its own
            stop[0]()
        thread.join(DEADLINE)
        assert not thread.is_alive()
