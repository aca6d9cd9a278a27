"""Undoes and redoes the changes of calls. The artist can undo any call, but a client can undo only
its own calls."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Sequence
from typing import TypeVar

from callboard.calls.change_history import ChangeBook, SceneChange
from callboard.calls.main_thread_coroutine import MainThreadCoroutine
from callboard.clients.owner import Owner, owns
from callboard.content import Json
from callboard.errors import HostError
from callboard.guest.main_thread import MainThread
from callboard.guest.turn import Waiter
from callboard.ports.undo import UndoPort

T = TypeVar("T")


class WithoutOpenSteps:
    """The transaction of a turn during which no call's undo step may be open."""

    def enter(self) -> None:
        """Open nothing."""

    def leave(self) -> None:
        """Close nothing."""

    def end(self, error: BaseException | None) -> None:
        """Don't restore anything."""


async def alone(
    main: MainThread, name: str, work: Callable[[], T], waiter: Waiter | None = None
) -> T:
    """Do ``work`` on the main thread while no step is open. Call it on the server's loop."""
    done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    stay = MainThreadCoroutine(
        main, name, contextvars.copy_context(), WithoutOpenSteps(), "change", waiter
    )
    stay.submit(work, done)
    try:
        return await done
    finally:
        await stay.close(None)


def undo_newest(port: UndoPort, undo_ids: Sequence[str]) -> list[str]:
    """Undo these steps, newest first, and stop at the first step that was followed by someone
    else's changes. Return the undone steps. Call it on the main thread while no step is open."""
    done: list[str] = []
    for id in undo_ids:
        if not port.undo(id):
            break
        done.append(id)
    return done


def undo_own(port: UndoPort, book: ChangeBook, who: Owner, steps: int) -> Json:
    """Undo the newest ``steps`` steps of ``who``, but none that someone else's change has followed.
    Raises HostError when none can be undone. Call it on the main thread while no step is open."""
    done: list[SceneChange] = []
    why = None
    while len(done) < steps and why is None:
        newest = _newest(book)
        if newest is None or newest.undo_id is None or not _is_own(newest.owner, who):
            why = _none_on_top(book, who)
        elif port.undo(newest.undo_id):
            book.undone([newest.undo_id], by=who)
            done.append(newest)
        elif newest == _newest(
            book
        ):  # Otherwise, the application has just reported that the artist undid the step.
            why = _CHANGED_AFTER.format(newest.words)
    return _reported("undone", done, why)


def redo_own(port: UndoPort, book: ChangeBook, who: Owner, steps: int) -> Json:
    """Redo ``steps`` of the steps that :func:`undo_own` undid for ``who``, the most recently undone
    first. Raises HostError when none can be redone. Call it on the main thread while no step is
    open."""
    done: list[SceneChange] = []
    while len(done) < steps:
        undone = [one for one in book.all() if one.undone and _is_own(one.undone_by, who)]
        again = next((one for one in undone if one.undo_id and port.redo(one.undo_id)), None)
        if again is None or again.undo_id is None:
            break
        book.undone([again.undo_id], undone=False)
        done.append(again)
    why = None if len(done) == steps else _no_more(book, who)
    return _reported("redone", done, why)


_CHANGED_AFTER = (
    "the scene was changed after '{}', or another scene was opened; leave it to the artist, or "
    "change it back with a call"
)


def _is_own(owner: Owner | None, who: Owner) -> bool:
    return owner is not None and owns(owner, who)


def _steps(book: ChangeBook) -> list[SceneChange]:
    """Return the steps that can be undone, newest first."""
    return [one for one in reversed(book.all()) if one.undo_id is not None and not one.undone]


def _newest(book: ChangeBook) -> SceneChange | None:
    return next(iter(_steps(book)), None)


def _none_on_top(book: ChangeBook, who: Owner) -> str:
    """Return why there is nothing to undo, without revealing what other clients did."""
    own = next((one for one in _steps(book) if _is_own(one.owner, who)), None)
    if own is None:
        return "no call of yours changed anything here that can still be undone"
    return _CHANGED_AFTER.format(own.words)


def _no_more(book: ChangeBook, who: Owner) -> str:
    undone = [one for one in book.all() if one.undone]
    if any(_is_own(one.undone_by, who) for one in undone):
        return "the scene was changed since you undid it; make the calls again instead"
    own = next((one for one in reversed(undone) if _is_own(one.owner, who)), None)
    if own is not None:
        return (
            f"you undid nothing; '{own.words}' was undone by the artist or another client, on "
            "purpose"
        )
    return "none of your calls here is undone"


def _reported(what: str, done: Sequence[SceneChange], why: str | None) -> Json:
    if not done:
        raise HostError(f"nothing was {what}: {why}")
    reported = [{"undo_id": one.undo_id, "tool": one.tool, "did": one.words} for one in done]
    return {what: reported, "stopped": why}
