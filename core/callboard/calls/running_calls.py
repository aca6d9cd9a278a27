"""The calls that run now, and what the artist may do to them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from callboard.calls.call import Call
from callboard.changes import Changes
from callboard.content import Json
from callboard.errors import Paused


class RunningCalls:
    """On the server's loop."""

    def __init__(self, where: str) -> None:
        """``where`` says where the artist pauses and resumes."""
        self._where = where
        self.paused = False
        #: How many calls the artist's Stop ended, until calls are taken again.
        self.stopped = 0
        self.calls: dict[str, Call] = {}
        #: Every call that got past the look-up ends here, with its result or its error.
        self.ended: Changes[[Call, Json | None, BaseException | None]] = Changes()
        #: A call began or got further, or calls are paused or not.
        self.activity: Changes[[]] = Changes()

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

    @contextmanager
    def _counted(self, call: Call) -> Iterator[Call]:
        self.calls[call.id] = call
        call.task = asyncio.current_task()
        error: BaseException | None = None
        try:
            yield call
        except BaseException as failed:
            error = failed
            raise
        finally:
            call.finished = True
            del self.calls[call.id]
            self.ended.tell(call, call.result, error)
