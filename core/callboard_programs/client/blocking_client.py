"""A blocking client that runs one session on its own event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, TypeVar

from callboard.content import Json
from callboard.errors import HostError
from callboard.ground.version import __version__
from callboard_programs.client.http import Broken, Endpoint, Unreachable
from callboard_programs.client.http_client import HttpClient, pass_over, refuse

T = TypeVar("T")


class Client:
    """A blocking client. Use it as a context manager, on a thread that doesn't run an event loop.
    Raises HostError when the server can't be reached, and RemoteError for errors that the server
    returns. ``timeout`` is the maximum number of seconds without any data from the server, which
    sends keep-alive data even while a tool is running. ``capabilities`` are the capabilities that
    the client declares. ``asked`` answers the server's requests that need these capabilities, on
    the client's loop. ``key`` is an instance's own token. The instance must prove that it has the
    token before anything is sent to it."""

    def __init__(
        self,
        url: str,
        token: str | None,
        timeout: float = 600.0,
        *,
        capabilities: Mapping[str, Any] | None = None,
        asked: Callable[[str, Json], Awaitable[Json]] = refuse,
        key: str | None = None,
    ) -> None:
        self._capabilities = capabilities or {}
        self._notified: Callable[[str, Json], None] = pass_over
        self._client = HttpClient(
            Endpoint.at(url, token, patience=timeout, key=key),
            asked=asked,
            notified=lambda method, params: self._notified(method, params),
        )
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Client:
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_tell)
        try:
            client = {"name": "callboard-cli", "version": __version__}
            self._run(self._open(client))
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            try:
                loop.run_until_complete(_end(self._client))
            finally:
                loop.close()

    def request(
        self,
        method: str,
        params: Json,
        on_notification: Callable[[str, Json], None] = pass_over,
    ) -> Json:
        """Send a request and wait for its result. Notifications that arrive before the result are
        passed to ``on_notification``."""
        self._notified = on_notification
        return self._run(self._client.request(method, params))

    async def _open(self, client: Json) -> None:
        await self._client.open(client, self._capabilities)
        if self._capabilities:
            self._client.listen()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            raise RuntimeError("use the client as a context manager: with Client(…) as client")
        task = self._loop.create_task(work)
        try:
            return self._loop.run_until_complete(task)
        except Unreachable as error:
            reason = error.message.removeprefix("the host can't be reached: ")
            raise HostError(
                f"the server can't be reached: {reason}; see `callboard doctor`"
            ) from None
        except Broken as error:
            raise HostError(error.message.replace("the host", "the server", 1)) from None
        finally:
            task.cancel()  # After Ctrl-C, the task is still waiting.
            if task.done() and not task.cancelled():
                task.exception()  # If Ctrl-C ended the task, the caller already has the error.


def _tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error in the loop. A KeyboardInterrupt isn't reported, because it may end any
    task."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)


async def _end(client: HttpClient) -> None:
    await client.close()
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
