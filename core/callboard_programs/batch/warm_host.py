"""A headless host in a process of its own, which one program starts, asks and ends."""

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
from callboard_programs.client.http_client import pass_over
from callboard_programs.client.tool_call import Notified, Requester, call_tool

#: What is said of a scene that a tool changed, and that nobody was asked to save.
UNSAVED = (
    "the tool changed the scene, and nothing saved it afterwards; where the tool doesn't write it "
    "itself, --save saves each scene where it came from"
)
OPEN, SAVE = "scene__open_file", "scene__save_file"


def is_changed(result: Json) -> bool:
    """Whether that call changed the scene."""
    return "callboard/undo" in result.get("_meta", {})


class WarmHost:
    """``callboard serve --worker`` and a client of it. A context manager; :meth:`kill` may
    be called from any thread, the rest from one."""

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
        """Raises HostError where the host doesn't start."""
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
        """Ends it at once; whoever waits for it gets HostLost with ``why``."""
        self._process.kill(why)

    def run(
        self,
        tool: str,
        given: Json,
        *,
        scene: str | None = None,
        save: bool = False,
        timeout: float | None = None,
        notified: Notified = pass_over,
    ) -> Json:
        """:func:`on_scene` in that many seconds. Raises HostLost, FailedCall, RemoteError."""
        with self.client_for(timeout) as client:
            return on_scene(client, tool, given, scene, save, notified)

    @contextmanager
    def client_for(self, timeout: float | None) -> Iterator[Client]:
        """A client of it, for that many seconds. Raises HostLost where it doesn't answer."""
        with self._process.in_time(timeout):
            try:
                yield self._client
            except HostError as error:
                if self._process.runs:
                    self.kill(error.message)
                raise self._process.lost() from None


def on_scene(
    client: Requester,
    tool: str,
    given: Json,
    scene: str | None = None,
    save: bool = False,
    notified: Notified = pass_over,
) -> Json:
    """Calls the tool, on that scene if there is one, and saves it where asked to. Raises
    FailedCall, RemoteError, HostError."""
    if scene is not None:
        call_tool(client, OPEN, {"path": scene, "discard_changes": True}, notified)
    result = call_tool(client, tool, given, notified)
    if save:
        call_tool(client, SAVE, {}, notified)
    return result
