"""Runs one map. It starts the map's process, reads its reports and ends it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Literal

from callboard.clients.owner import Owner
from callboard.content import Json
from callboard.errors import HostError
from callboard.mapping.host_process import HostProcess
from callboard.mapping.reports import Tally

State = Literal["preparing", "asking", "working", "completed", "failed", "cancelled"]
#: Seconds that a process has to shut down. During this time, it returns unfinished tasks.
_GOODBYE = 15.0
#: Seconds between two reports of progress.
_AGAIN = 0.5


class MapRun:
    """One map. Runs on the server's loop, except for a thread that reads the reports of its
    process."""

    def __init__(self, name: str, job_id: str, tool: str, owner: Owner) -> None:
        self.owner = owner
        self.name, self.job_id, self.tool = name, job_id, tool
        #: The kind of host that runs the map.
        self.kind = ""
        self.state: State = "preparing"
        self.total = 0
        self.message = ""
        self.ended = asyncio.Event()
        self._tally = Tally()
        self._out = self._known = 0
        #: The number of suitable hosts on the farm, or None until the process reports it.
        self._hosts: int | None = None
        self._began = self._over = 0.0
        self._guard = threading.Lock()
        self._process: HostProcess | None = None
        self._dismissed = False

    def close(self, state: State, message: str = "") -> None:
        """Note the run's outcome."""
        self.state, self.message = state, message
        self.ended.set()

    def describe(self) -> Json:
        tally = self._tally
        over = tally.done + tally.failed
        reported: Json = {
            "run": self.name,
            "job_id": self.job_id,
            "tool": self.tool,
            "status": self.state,
            "tasks": self.total,
            "done": tally.done,
            "failed": tally.failed,
        }
        if self.state == "working":
            reported["running"] = out = min(self._out, self.total - over)
            reported["waiting"] = self.total - over - out
        if self._hosts is not None:
            reported["hosts"] = self._hosts
            took = (self._over or monotonic()) - self._began
            reported["tasks_per_second"] = round((over - self._known) / max(took, 0.001), 3)
        if tally.first_errors:
            reported["first_errors"] = tally.first_errors
        if self.state == "working" and self._hosts == 0:
            reported["message"] = (
                f"the farm has no host of the kind {self.kind}: start one with "
                f"`callboard farm worker --host {self.kind}`, or cancel this map"
            )
        if self.message:
            reported["message"] = self.message
        return reported

    async def perform(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None,
        progress: Callable[[int, int], None],
    ) -> None:
        """Run to completion. ``progress`` is called on a separate thread. If this call is
        cancelled, it first ends the process. Raises HostError."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[HostError | None] = loop.create_future()

        def settle(error: HostError | None) -> None:
            if not ended.done():
                ended.set_result(error)

        def work() -> None:
            error = self._work(command, env, progress)
            with suppress(RuntimeError):  # The server has ended in the meantime.
                loop.call_soon_threadsafe(settle, error)

        threading.Thread(target=work, name="callboard-map", daemon=True).start()
        try:
            error = await asyncio.shield(ended)
        except asyncio.CancelledError:
            self._dismiss()
            await asyncio.shield(ended)
            raise
        if error is not None:
            raise error

    def _dismiss(self) -> None:
        with self._guard:
            self._dismissed = True
            if self._process is not None:
                self._process.dismiss()

    # -- the thread -------------------------------------------------------------------------------

    def _work(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None,
        progress: Callable[[int, int], None],
    ) -> HostError | None:
        """Return the reason why the map didn't finish, or None."""
        reported = 0.0
        try:
            with HostProcess(command, _GOODBYE, env) as process:
                with self._guard:
                    self._process = process
                    if self._dismissed:
                        process.dismiss()
                while (line := process.line()) is not None:
                    self._take(line)
                    if monotonic() - reported > _AGAIN:
                        reported = monotonic()
                        self._tell(progress)
                self._over = monotonic()
                self._tell(progress)
                if self._tally.finished:
                    return None
                if self._tally.refused is not None:
                    return HostError(self._tally.refused)
                return process.lost("it didn't finish")
        except OSError as error:
            return HostError(
                f"callboard's command can't be started: {error}; set farm_command "
                "(CALLBOARD_FARM_COMMAND) to the right command"
            )
        finally:
            with self._guard:
                self._process = None

    def _tell(self, progress: Callable[[int, int], None]) -> None:
        with suppress(RuntimeError):  # The server has ended in the meantime.
            progress(self._tally.done + self._tally.failed, self.total)

    def _take(self, line: Json) -> None:
        if line.get("event") != "standing":
            self._tally.take(line)
            return
        if self._hosts is None:
            # The tasks reported so far were done in earlier runs.
            self._began, self._known = monotonic(), self._tally.done + self._tally.failed
        self._out, self._hosts = line["out"], line["hosts"]
