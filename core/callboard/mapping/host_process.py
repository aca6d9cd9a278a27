"""Starts a headless host in a process, reads the line with which the host reports that it is ready
and the last lines of its output, and ends the process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from callboard.content import Json, json_object
from callboard.errors import CALL_TIMEOUT, HostError

#: Seconds within which the process must be ready, and seconds that it has to end.
START, GOODBYE = 120.0, 10.0
#: Maximum number of bytes of the process's last output that an error includes.
LAST_WORDS = 1000


class HostLost(HostError):
    """Raised when the process ended, or was killed, before it answered."""


class HostProcess:
    """The process of a program that prints a line of JSON when it is ready, and ends when its stdin
    is closed. It is a context manager. Use it from one thread, except for the methods that may be
    called from any thread."""

    def __init__(
        self,
        command: Sequence[str],
        goodbye: float = GOODBYE,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """``goodbye`` is the number of seconds that the program has to end. If ``env`` is None, the
        program gets the environment of this process."""
        self._command = list(command)
        self._env = env
        self._goodbye = goodbye
        self._killed = ""
        self._code: int | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> HostProcess:
        """Start the program. Raises OSError when there is no such program."""
        self._words = tempfile.TemporaryFile()
        # Ctrl+C must reach only our own process, which then ends the program properly.
        apart: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._words,
                env=self._env,
                **apart,
            )
        except OSError:
            self._words.close()
            raise
        if self._killed:  # Another thread has called kill in the meantime.
            self._process.kill()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the program: first by closing its stdin, then by force."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        self.dismiss()
        try:
            process.wait(self._goodbye)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        self._words.close()

    def dismiss(self) -> None:
        """Ask the process to end. Call it from any thread."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def ready(self, *texts: str) -> Json:
        """Return the object in the program's first line, which must have strings under the keys
        ``texts``. Raises HostLost when the program doesn't start, or prints something else."""
        with self.in_time(START):
            printed = self._read_line()
        line = json_object(printed)
        if line is not None and all(isinstance(line.get(text), str) for text in texts):
            return line
        if printed:  # Otherwise, the program has ended.
            shown = printed[:LAST_WORDS].decode("utf-8", "replace").strip()
            self.kill(f"it printed '{shown}' instead of reporting that it is ready")
        raise self.lost("it didn't start")

    def line(self) -> Json | None:
        """Return the object in the program's next line, or None when the output has ended or the
        line isn't a JSON object."""
        return json_object(self._read_line())

    def _read_line(self) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def kill(self, why: str, code: int | None = None) -> None:
        """Kill the process. :meth:`lost` then reports the ``why`` of the first call. Call it from
        any thread."""
        if not self._killed:
            self._killed, self._code = why, code
        if self._process is not None:
            self._process.kill()

    @contextmanager
    def in_time(self, seconds: float | None) -> Iterator[None]:
        """Kill the process if the block takes longer than ``seconds``. None means no limit."""
        if seconds is None:
            yield
            return
        why = f"it took longer than {seconds:g} s"
        late = threading.Timer(seconds, self.kill, [why, CALL_TIMEOUT])
        late.daemon = True
        late.start()
        try:
            yield
        finally:
            late.cancel()

    def lost(self, otherwise: str = "it crashed or was killed") -> HostLost:
        """Return the error that reports why the process ended. ``otherwise`` is the reason if
        :meth:`kill` wasn't called."""
        assert self._process is not None
        status = self._process.wait()
        ended = f"signal {-status}" if status < 0 else f"status {status}"
        self._words.seek(max(0, self._words.seek(0, os.SEEK_END) - LAST_WORDS))
        words = self._words.read().decode("utf-8", "replace").strip()
        reported = f"the host ended with {ended}: {self._killed or otherwise}"
        return HostLost(
            f"{reported}; its last output:\n{words}" if words else reported, code=self._code
        )
