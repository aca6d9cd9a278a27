"""Serves skills from any Python program, without an application.

The server starts a thread that serves as its host's main thread. The program keeps its own threads.
Names and signatures are compatible with programs written for dcc-mcp-core.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from platform import python_version
from types import TracebackType

from callboard.app import Callboard
from callboard.calls.tools import ToolRegistry
from callboard.config import McpHttpConfig
from callboard.errors import HostError
from callboard.guest.inbox import MainThreadInbox
from callboard.ports.host import Host, HostIdentity
from callboard.skills.prompts.registry import PromptRegistry

#: Seconds that a running call may delay a shutdown.
SHUTDOWN_TIMEOUT = 10.0


class BareHost(Host):
    """A host without ports: its tools can do what ``declared_capabilities`` says."""

    def __init__(self, kind: str, post: Callable[[Callable[[], None]], None]) -> None:
        super().__init__()
        self._identity = HostIdentity(kind, kind, python_version())
        self._post = post

    @property
    def identity(self) -> HostIdentity:
        return self._identity

    def post(self, fn: Callable[[], None]) -> None:
        self._post(fn)


class ServerHandle:
    """A running server, which is also a context manager. Call its methods from any thread but the
    server's."""

    def __init__(self, app: Callboard, inbox: MainThreadInbox, thread: threading.Thread) -> None:
        self._app = app
        self._inbox = inbox
        self._thread = thread

    @property
    def url(self) -> str:
        """The URL of the MCP endpoint."""
        return self._app.url

    def mcp_url(self) -> str:
        """Return the URL of the MCP endpoint."""
        return self._app.url

    @property
    def token(self) -> str | None:
        """The bearer token that clients present, or None when ``auth`` is ``none``."""
        return self._app.token

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1].partition("/")[0])

    def withdraw(self, capability: str) -> None:
        """Stop offering the capability to all clients at once, and notify them."""
        self._app.capabilities.withdraw(capability)

    def restore(self, capability: str) -> None:
        """Offer the capability again."""
        self._app.capabilities.restore(capability)

    def shutdown(self) -> None:
        """End every call and connection, and return. Idempotent. Raises HostError when a tool is
        still running on the main thread after ``SHUTDOWN_TIMEOUT``; the server then stops once that
        tool has ended, or with the process."""
        self._inbox.stop()
        self._app.guest.interrupt()
        self._thread.join(SHUTDOWN_TIMEOUT)
        if self._thread.is_alive():
            raise HostError(
                "a tool is still running on the main thread; the server stops when the tool ends"
            )

    stop = shutdown

    def __enter__(self) -> ServerHandle:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.shutdown()


class McpHttpServer:
    """Serves a registry's tools, and the skills named in the server's configuration, over HTTP.

    Nothing runs before :meth:`start`. ``registry`` may change while the server runs. ``kind`` is
    the kind of host that skills are chosen for.
    """

    def __init__(
        self,
        registry: ToolRegistry | None = None,
        config: McpHttpConfig | None = None,
        *,
        kind: str = "python",
    ) -> None:
        self.registry = ToolRegistry() if registry is None else registry
        self.config = McpHttpConfig() if config is None else config
        self.kind = kind
        self._prompts = PromptRegistry()

    def prompts(self) -> PromptRegistry:
        """Return the handle through which prompts are registered, before or after the start."""
        return self._prompts

    def start(self) -> ServerHandle:
        """Serve on a separate thread. The server is answering by the time this returns. Raises
        OSError when the port is taken, in which case nothing is left running."""
        started: Future[Callboard] = Future()
        inbox = MainThreadInbox()

        def main() -> None:
            try:
                host = BareHost(self.kind, inbox.post)
                app = Callboard(host, self.config, self.registry, self._prompts).start()
            except BaseException as error:
                started.set_exception(error)
                return
            started.set_result(app)
            try:
                inbox.run()
            finally:
                app.stop()

        thread = threading.Thread(target=main, name="callboard-main", daemon=True)
        thread.start()
        return ServerHandle(started.result(), inbox, thread)


def create_skill_server(
    app_name: str,
    config: McpHttpConfig | None = None,
    extra_paths: Sequence[str | Path] | None = None,
    dcc_name: str | None = None,
) -> McpHttpServer:
    """Return a server with every skill that suits ``app_name`` (``maya``, ``blender`` …), or
    ``dcc_name`` if that is given. ``extra_paths`` are folders of skills."""
    chosen = McpHttpConfig() if config is None else config
    if extra_paths:
        chosen = replace(chosen, skill_paths=[*extra_paths, *chosen.skill_paths])
    return McpHttpServer(config=chosen, kind=dcc_name or app_name)
