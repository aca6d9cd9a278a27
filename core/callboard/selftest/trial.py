"""The application under test, as the checks access it, and the findings of one check."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from callboard.calls.outcomes import settle
from callboard.calls.undo_step import UndoStep
from callboard.content import Json
from callboard.errors import HostBusy
from callboard.ground.unattended import comes_back
from callboard.guest.main_thread import MainThread
from callboard.guest.turn import Transaction, Turn
from callboard.ports.edit import NotOffered
from callboard.ports.host import Host, Work

#: Seconds that one visit to the main thread may take.
PATIENCE = 90.0


@dataclass
class Findings:
    """The findings of one check, in sentences: what works, what broke, and what the application
    doesn't have. ``data`` are the figures and words behind them."""

    good: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    data: Json = field(default_factory=dict)


class Trial:
    """One run of the self-test. Use it on the server's loop. ``folder`` is an empty folder."""

    def __init__(
        self, host: Host, loop: asyncio.AbstractEventLoop, main: MainThread, folder: Path
    ) -> None:
        self.host = host
        self.folder = folder
        self._loop = loop
        self._main = main

    def port(self, capability: str) -> Any:
        """Return the port. Raises NotOffered."""
        if capability not in self.host.ports:
            raise NotOffered(f"{self.host.identity.name} has no '{capability}' here")
        return self.host.ports[capability]

    def act(self, name: str) -> Callable[..., Any]:
        """Return the function that stands in for the artist (``Host.acts``). Raises NotOffered."""
        if name not in self.host.acts:
            raise NotOffered(f"a program can't do this in {self.host.identity.name}: {name}")
        return self.host.acts[name]

    def begin(
        self, work: Callable[[], Any], kind: Work = "read", undo: Transaction | None = None
    ) -> tuple[Turn, asyncio.Future[Any]]:
        """Queue the work for the main thread, as a call is queued. Return its turn and its
        answer."""
        answer: asyncio.Future[Any] = self._loop.create_future()
        done = partial(self._main.complete, settle, answer)
        context = contextvars.copy_context()
        context.run(comes_back.set, True)
        turn = Turn("the self-test", work, done, transaction=undo, context=context, kind=kind)
        self._main.submit(turn)
        return turn, answer

    async def main(
        self, work: Callable[[], Any], kind: Work = "read", undo: Transaction | None = None
    ) -> Any:
        """Run the work on the main thread, and return its value. Raises HostBusy if the
        application doesn't get to it."""
        return await self.answer(*self.begin(work, kind, undo))

    async def answer(self, turn: Turn, answer: asyncio.Future[Any]) -> Any:
        """Return the turn's answer, as ``main`` does."""
        try:
            return await asyncio.wait_for(answer, PATIENCE)
        except asyncio.TimeoutError:
            raise self._main.busy(turn) from None
        finally:
            if not answer.done() or answer.cancelled():
                self._main.cancel(turn)

    async def step(self, label: str, work: Callable[[], Any]) -> tuple[Any, str | None]:
        """Run the work in one undo step, like any call that changes the scene. Return its value,
        and the step's id."""
        if self.host.undo is None:
            return await self.main(work, "change"), None
        step = UndoStep(self.host.undo, f"Callboard: {label}")
        return await self.main(work, "change", step), step.id

    def held_by(self, turn: Turn) -> str:
        """Return what the turn is waiting for, in the artist's words, or an empty string."""
        return turn.held_by or self.host.blocked_by() or ""


#: Errors after which the main thread can't be expected to answer the next check either.
GONE = (HostBusy, asyncio.CancelledError)
