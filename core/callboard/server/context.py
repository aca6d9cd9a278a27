"""What a tool receives as ``ctx``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from callboard.errors import SkillError
from callboard.host import SCENE_MUTATE, HostIdentity

if TYPE_CHECKING:
    from callboard.server.call import Call

T = TypeVar("T")


class ToolContext:
    """A tool's way to the host and to the client that called it.

    Every method may be called from the thread the tool runs on.
    """

    def __init__(self, call: Call) -> None:
        self._call = call

    @property
    def host_identity(self) -> HostIdentity:
        """Which host this is."""
        return self._call.host.identity

    @property
    def cancelled(self) -> bool:
        """Whether the client, or the artist, no longer wants the answer. A plain function that
        takes long asks now and then, and returns or raises."""
        return self._call.cancelled

    @property
    def roots(self) -> Any:
        """The ``WorkspaceRoots`` of this call, or None where there are none."""
        return self._call.roots

    def port(self, capability: str) -> Any:
        """The host's port for a capability that the tool declares. Raises SkillError for one it
        doesn't, CapabilityMissing when the artist withdrew it meanwhile."""
        tool = self._call.tool
        if capability not in tool.required_capabilities:
            raise SkillError(
                f"tool '{tool.name}' uses '{capability}' without declaring it; add it to "
                "required_capabilities in tools.yaml"
            )
        self._call.capabilities.check(tool.name, tool.required_capabilities)
        port = self._call.host.ports.get(capability)
        if port is None:
            raise SkillError(f"this host declares '{capability}' but has no port for it")
        if capability == SCENE_MUTATE:
            self._call.changes_begun = True
        return port

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Tells the client how far the call is. Steps that don't grow are not sent
        (2025-11-25, Progress: the value must increase)."""
        self._call.on_loop(self._call.send_progress, done, total, message)

    def log(self, level: str, message: str, **data: Any) -> None:
        """Sends a log message to the client: debug, info, notice, warning, error, critical, alert
        or emergency."""
        self._call.on_loop(self._call.send_log, level, message, data)


class AsyncToolContext(ToolContext):
    """The ``ctx`` of a coroutine tool, which runs on the server's loop."""

    async def on_main_thread(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Runs ``function`` on the host's main thread, inside this call's one undo step."""
        main = self._call.main_session
        if main is None:
            raise SkillError("this call has no main thread to run on")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        main.submit(lambda: function(*args, **kwargs), future)
        return await future
