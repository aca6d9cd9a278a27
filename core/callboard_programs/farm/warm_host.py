"""A headless host in a process of its own, started, used and ended by one program."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from callboard.content import Json
from callboard.errors import HostError
from callboard.mapping.host_process import HostProcess
from callboard_programs.client import Client, refuse


class WarmHost:
    """Runs ``callboard serve --worker``, with a client for it. Use it as a context manager. Call
    :meth:`kill` from any thread, and everything else from a single one."""

    def __init__(
        self,
        options: Sequence[str],
        *,
        capabilities: Mapping[str, Any] | None = None,
        asked: Callable[[str, Json], Awaitable[Json]] = refuse,
    ) -> None:
        """``options`` are those of ``callboard serve``."""
        self._process = HostProcess(
            [sys.executable, "-m", "callboard", "serve", "--worker", *options]
        )
        self._capabilities, self._asked = capabilities, asked

    def __enter__(self) -> WarmHost:
        """Start the host. Raises HostError if it doesn't start."""
        self._process.__enter__()
        try:
            ready = self._process.ready("url", "token")
            self._client = Client(
                ready["url"], ready["token"], capabilities=self._capabilities, asked=self._asked
            )
            self._client.__enter__()
        except BaseException:
            self._process.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._client.__exit__(kind, error, trace)
        finally:
            self._process.__exit__(kind, error, trace)

    def kill(self, why: str) -> None:
        """End the host at once. A caller that is waiting for the host gets HostLost with
        ``why``."""
        self._process.kill(why)

    @contextmanager
    def client_for(self, timeout: float | None) -> Iterator[Client]:
        """Yield a client for the host. After ``timeout`` seconds in the block, the host is killed.
        Raises HostLost if the host is gone or doesn't answer."""
        with self._process.in_time(timeout):
            try:
                yield self._client
            except HostError as error:
                if self._process.runs:
                    self.kill(error.message)
                raise self._process.lost() from None
