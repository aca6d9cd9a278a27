"""The supervisor of a farm's host. It starts the host, watches it, ends it when necessary, and
starts the next host."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from callboard.content import Json
from callboard.errors import CALL_TIMEOUT
from callboard.mapping.host_process import START, HostLost, HostProcess

#: Seconds between two checks of the process.
LOOK = 0.25
#: Seconds allowed for a cancelled task to end on its own.
GRACE = 1.0
#: Seconds after which a stopped process (SIGSTOP) is killed.
STOPPED = 5.0
#: Seconds allowed for a host that is being replaced to leave the farm.
LEAVING = 30.0
#: A host is killed during a task if its memory exceeds this multiple of the limit at which it is
#: replaced.
TOO_MUCH = 2
#: Seconds before the next attempt when a host no longer starts.
PAUSE = 5.0
_SCHEDULER_GONE = (
    "the scheduler is gone, and the host ended; start the scheduler again at the same address, and "
    "the next host joins it"
)


@dataclass
class _Task:
    key: str
    #: The time by which the task must have ended, and the reason to report if it hasn't.
    end: float | None
    why: str
    code: int | None


class Supervisor:
    """Keeps one host in the farm. Call :meth:`run` on one thread, and :meth:`stop` from any."""

    def __init__(
        self,
        command: Callable[[str], Sequence[str]],
        name: str,
        tell_ready: Callable[[Json], None],
        tell_lost: Callable[[Json], None],
        most_memory: int | None = None,
    ) -> None:
        """``command`` returns the command that starts a host with the given name. Each host gets a
        new name. ``tell_ready`` receives each host's ready line. ``tell_lost`` receives ``{worker,
        key, why, code}`` for each lost host. ``most_memory`` is in bytes. During a task, the host
        may use TOO_MUCH times as much."""
        self._command = command
        self._name = name
        self._tell_ready, self._tell_lost = tell_ready, tell_lost
        self._most_memory = most_memory
        self._heard: SimpleQueue[Json | None] = SimpleQueue()
        self._stopped = False

    def stop(self) -> None:
        """Let the host shut down, and then end :meth:`run`."""
        self._stopped = True
        self._heard.put(None)

    def run(self) -> None:
        """Run host after host. Raises HostLost when the first one doesn't start."""
        for number in count(1):
            name = f"{self._name}-{number}"
            try:
                self._keep(name)
            except HostLost as error:
                if number == 1 and not self._was_ready:
                    raise
                lost = {"worker": name, "key": self._task.key if self._task else None}
                self._tell_lost({**lost, "why": error.message, "code": error.code})
                if not self._was_ready:
                    self._rest()
            if self._stopped:
                return

    def _rest(self) -> None:
        """Wait before the next attempt. Return early if :meth:`stop` is called."""
        try:
            self._heard.get(timeout=PAUSE)
        except Empty:
            return

    def _keep(self, name: str) -> None:
        """Run one host until it ends. Raises HostLost if the host ended without being asked to."""
        self._task: _Task | None = None
        self._was_ready = self._recycled = self._left = False
        self._heard = SimpleQueue()
        with HostProcess(self._command(name)) as process:
            threading.Thread(target=self._listen, args=[process, self._heard], daemon=True).start()
            watch = _Watch(process, self._most_memory)
            start = monotonic() + START
            while not self._stopped:
                try:
                    line = self._heard.get(timeout=LOOK)
                except Empty:
                    if not self._was_ready and monotonic() > start:
                        process.kill("it didn't start in time", CALL_TIMEOUT)
                    watch.end_where_due(self._task)
                    continue
                if line is None:
                    break
                if line.get("event") == "ready":
                    watch.look_at(line["pid"])
                self._take(line)
            if not self._stopped and not self._recycled:
                raise HostLost(_SCHEDULER_GONE) if self._left else process.lost()

    @staticmethod
    def _listen(process: HostProcess, heard: SimpleQueue[Json | None]) -> None:
        while (line := process.line()) is not None:
            heard.put(line)
        heard.put(None)

    def _take(self, line: Json) -> None:
        """Handle a line in which the host reports its state."""
        event = line.get("event")
        if event == "ready":
            self._was_ready = True
            self._tell_ready(line)
        elif event == "began":
            seconds = line["timeout"]
            end = None if seconds is None else monotonic() + seconds
            why = f"it took longer than {seconds:g} s" if seconds else ""
            self._task = _Task(line["key"], end, why, CALL_TIMEOUT)
        elif event == "ended":
            self._task = None
        elif event == "cancelled" and self._task and self._task.key == line["key"]:
            self._task.end = monotonic() + GRACE
            self._task.why, self._task.code = "its task was cancelled", None
        elif event == "left":
            self._left = True
        elif event == "recycled":
            self._recycled = True
            self._task = _Task("", monotonic() + LEAVING, "it didn't shut down properly", None)


class _Watch:
    """Ends a process that is late, uses too much memory, or was stopped from outside."""

    def __init__(self, process: HostProcess, most_memory: int | None) -> None:
        self._process, self._most_memory = process, most_memory
        self._stopped_since: float | None = None
        self.look_at(process.pid)

    def look_at(self, pid: int) -> None:
        """Watch the process with this id. The process that was started first may be only a launcher
        for the host."""
        import psutil

        self._gone = psutil.Error
        with suppress(psutil.Error):  # The host may have ended by now.
            self._about: Any = psutil.Process(pid)

    def end_where_due(self, task: _Task | None) -> None:
        now = monotonic()
        if task is not None and task.end is not None and now > task.end:
            self._process.kill(task.why, task.code)
        try:
            stopped = self._about.status() == "stopped"
            held = self._about.memory_info().rss
        except self._gone:
            return
        # A host that is being replaced has no task, and its last result is still being fetched.
        most = self._most_memory if task is not None and task.key else None
        if most is not None and held > TOO_MUCH * most:
            self._process.kill(
                f"its task used {held} bytes of memory, more than {TOO_MUCH} times --max-memory; "
                "raise --max-memory, or fix the leak"
            )
        if not stopped:
            self._stopped_since = None
        elif self._stopped_since is None:
            self._stopped_since = now
        elif now - self._stopped_since > STOPPED:
            self._process.kill("it was stopped from outside")
