"""The calls that run now, and what the artist may do to them."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from types import TracebackType

from callboard.calls.call import Call
from callboard.changes import Changes
from callboard.content import Json
from callboard.errors import CallboardError, Paused, RefusedByArtist

_ID = re.compile(r"([0-9a-f]{8})[0-9a-f]{24}")


def server_of(id: str) -> str | None:
    """What tells the server that made a call's id from all others; None for what is no such id."""
    match = _ID.fullmatch(id)
    return match[1] if match else None


class RunningCalls:
    """On the server's loop."""

    def __init__(self, where: str) -> None:
        """``where`` says where the artist pauses and resumes."""
        self._where = where
        self._ids = secrets.token_hex(4)
        self.paused = False
        #: How many calls the artist's Stop ended, until calls are taken again.
        self.stopped = 0
        self.calls: dict[str, Call] = {}
        #: Every call that got past the look-up ends here, with its result or its error.
        self.ended: Changes[[Call, Json | None, BaseException | None]] = Changes()
        #: A call began or got further, or calls are paused or not.
        self.activity: Changes[[]] = Changes()

    def new_id(self) -> str:
        """For a call of this server's."""
        return self._ids + os.urandom(12).hex()

    def made_here(self, id: str) -> bool:
        """Whether that is the id of a call of this server's, however long ago."""
        return server_of(id) == self._ids

    def pause(self) -> None:
        """Refuses every call from now on, those that wait to begin too; those that run finish."""
        self.paused = True
        for call in list(self.calls.values()):
            if call.state == "waiting" and call.task is not None:
                call.paused = True
                call.task.cancel()
        self.activity.tell()

    def stop(self) -> int:
        """Pauses, and cancels what runs, waits or asks. How many calls that ended."""
        self.pause()
        for call in list(self.calls.values()):
            if not call.paused:
                self.cancel(call.id)
        self.stopped = sum(not call.tool.internal for call in self.calls.values())
        return self.stopped

    def stop_client(self, holder: str) -> int:
        """Cancels what one client, by its token's name, has running, waiting or asking, and goes on
        taking its calls. How many calls that ended."""
        theirs = [one for one in self.calls.values() if one.request.peer.holder.name == holder]
        for call in theirs:
            self.cancel(call.id)
        return sum(not call.tool.internal for call in theirs)

    def resume(self) -> None:
        """Takes calls again."""
        self.paused, self.stopped = False, 0
        self.activity.tell()

    def cancel(self, id: str) -> None:
        """Ends a call on the artist's word. Its client hears that it was cancelled."""
        call = self.calls.get(id)
        if call is not None and call.task is not None:
            call.cancelled_by_artist = True
            call.task.cancel()

    def require_going(self) -> None:
        """Raises Paused."""
        if self.paused:
            raise Paused(
                "the artist paused callboard; ask the artist to resume it, in "
                f"{self._where}, then call again"
            )

    def _artists_word(self, call: Call) -> CallboardError | None:
        """What a cancelled call ended by, if it was the artist."""
        if call.paused:
            return Paused(
                f"the artist paused callboard before {call.tool.name} began; nothing was "
                f"changed. Ask the artist to resume it, in {self._where}, then call again"
            )
        if call.cancelled_by_artist:
            return RefusedByArtist(
                f"the artist cancelled {call.tool.name}; ask before you call it again"
            )
        return None

    def _counted(self, call: Call) -> _Counted:
        return _Counted(self, call)


class _Counted:
    """Surrounds a call while it runs. A generator for this would take longer than all it does."""

    def __init__(self, running: RunningCalls, call: Call) -> None:
        self._running = running
        self._call = call

    def __enter__(self) -> Call:
        call = self._call
        self._running.calls[call.id] = call
        call.task = asyncio.current_task()
        return call

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        call = self._call
        call.finished = True
        del self._running.calls[call.id]
        ended_by = self._running._artists_word(call) if kind is asyncio.CancelledError else None
        self._running.ended.tell(call, call.result, ended_by or error)
        if ended_by is not None:
            raise ended_by from None
