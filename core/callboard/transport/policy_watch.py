"""Notices when the machine's policy changes while a program is serving."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from callboard.ground.machine_policy import PolicyError, WrittenPolicy, written_policy

log = logging.getLogger(__name__)


class PolicyWatch:
    """Compares the policy with the one seen last. Use it on the server's loop."""

    def __init__(self, changed: Callable[[], Awaitable[None]]) -> None:
        """``changed`` puts the new policy in force. Its runs never overlap."""
        self._changed = changed
        self._seen = _now()
        self._missing = False
        self._task: asyncio.Task[None] | None = None

    def check(self) -> None:
        """Read the policy's file, which is on this machine's own disk. Call it every few
        seconds."""
        now = _now()
        if now is None and self._seen is not None and not self._missing:
            # A program that replaces the file may leave it missing for a moment.
            self._missing = True
            return
        self._missing = False
        if now != self._seen:
            self._seen = now
            self._task = asyncio.get_running_loop().create_task(self._follow(self._task))

    async def _follow(self, earlier: asyncio.Task[None] | None) -> None:
        if earlier is not None:
            await asyncio.wait([earlier])
        try:
            await self._changed()
        except Exception:
            log.exception("the machine's policy can't be put in force")


def _now() -> WrittenPolicy | str | None:
    """Return the policy, None if there is none, or the reason why it can't be trusted."""
    try:
        return written_policy()
    except PolicyError as error:
        return error.message
