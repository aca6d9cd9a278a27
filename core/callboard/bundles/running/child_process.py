"""Runs a bundle's own server as a process, exchanges messages with it, and cleans up when it ends.

Three threads move the bytes, because a pipe that isn't read or filled must not block the server's
loop or the host, and because Windows can't wait for pipes and sockets together.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import IO, Any

from callboard.clients.owner import Owner
from callboard.errors import ParseError
from callboard.protocol import jsonrpc

if sys.platform == "win32":
    from callboard.bundles.running.process_job import ProcessJob

log = logging.getLogger(__name__)

#: Maximum number of bytes in one message. This is enough for a file of 10 MiB in base64.
MAX_MESSAGE = 16 * 2**20
#: Maximum number of messages that have been handed over but not yet handled.
ROOM = 64
#: Maximum number of messages read per second. A process that sends more has to wait.
LINES_A_SECOND = 2_000
#: Maximum number of bytes waiting for a process that doesn't read.
MAX_WAITING = 64 * 2**20
#: Maximum number of lines of stderr logged per second, and maximum number of lines of noise on
#: stdout logged in total.
LOGGED_A_SECOND = 50
LOGGED_NOISE = 5
NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)

_INHERITED = {
    *("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"),
    *("APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMDATA"),
    *("PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE"),
    *("WINDIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"),
}
_PROXIES = {"HTTP_PROXY", "HTTPS_PROXY"}


_RPC = rb'"jsonrpc"\s*:\s*"2\.0"\s*'
_ID = rb'"id"\s*:\s*(-?[0-9]{1,18}|"[^"\\]{1,100}")\s*'
#: The two ways in which servers write answers: the id before everything else, or at the end.
_ID_FIRST = re.compile(rb"\{\s*(?:" + _RPC + rb",\s*)?" + _ID + rb',\s*"(?:result|error)"')
_IS_ANSWER = re.compile(rb"\{\s*(?:" + _RPC + rb',\s*)?"(?:result|error)"')
_ID_LAST = re.compile(_ID + rb"(?:,\s*" + _RPC + rb")?\}\s*$")


def _failed(line: bytes, error: ParseError) -> Any:
    """Return an error response for the request that a malformed line answers, or None if the line
    isn't an answer. Without an error response, the request would wait in vain."""
    named = _ID_FIRST.match(line)
    if named is None and _IS_ANSWER.match(line):
        named = _ID_LAST.search(line[-300:])
    if named is None:
        return None
    message = f"its answer can't be read: {error.message}"
    failed = {"code": error.code, "message": message}
    return {"jsonrpc": "2.0", "id": jsonrpc.decode(named[1]), "error": failed}


def environment(additions: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a bundle's process. It is only a part of the host's environment: a
    host's ``PYTHONHOME`` would break a different Python, and the host's secrets must not be passed
    on. User names and passwords are removed from the addresses of proxies."""
    harmless = {
        name: re.sub(r"(^|//)[^/]*@", r"\1", value) if name.upper() in _PROXIES else value
        for name, value in os.environ.items()
        if name.upper() in _INHERITED or name.startswith(("LC_", "XDG_"))
    }
    # On Windows Python's standard streams would use an old code page, but MCP is UTF-8.
    return {"PYTHONUTF8": "1", **harmless, **additions}


class ChildProcess:
    """One run of one process. The constructor raises OSError when the program can't be started.
    Nothing is read before :meth:`start`."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        env: Mapping[str, str],
        folder: Path,
        served: Callable[[], Sequence[Owner]] = tuple,
    ) -> None:
        """``served`` returns the owners of the calls that the process may quote in its lines."""
        self.name = name
        self._served = served
        self._closing = threading.Event()
        self._room = threading.Semaphore(ROOM)
        self._outbox: queue.SimpleQueue[bytes | Callable[[], None] | None] = queue.SimpleQueue()
        self._waiting = 0
        self._lock = threading.Lock()
        #: Our reason for ending the process, if we ended it.
        self._blame: str | None = None
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=dict(env),
            # The process gets a group of its own, so that the processes that it starts can be ended
            # with it.
            start_new_session=os.name == "posix",
            creationflags=NO_WINDOW,
        )
        self._threads: list[threading.Thread] = []
        if sys.platform == "win32":
            try:
                self._job = ProcessJob(self._process)
            except OSError:
                self._process.kill()
                raise

    def start(self, received: Callable[[Any], None], ended: Callable[[str], None]) -> None:
        """Begin to read.

        ``received`` is called with every JSON value that the process sends. ``ended`` is called
        once, with a clause that says why, when the process ends without :meth:`stop`. Both are
        called on this object's threads, so they must pass their arguments on and return at once.
        Call :meth:`taken` for every value once it has been handled.
        """
        self._received = received
        self._ended = ended
        self._threads = [
            threading.Thread(target=work, name=f"callboard-{self.name[:32]}", daemon=True)
            for work in (self._read, self._read_errors, self._write)
        ]
        for thread in self._threads:
            thread.start()

    def start_on_loop(self, received: Callable[[Any], None], ended: Callable[[str], None]) -> None:
        """Like :meth:`start`, but call both functions on the running loop. A value is considered
        handled when ``received`` returns."""
        loop = asyncio.get_running_loop()

        def take(value: Any) -> None:
            try:
                received(value)
            finally:
                self.taken()

        def on_loop(function: Callable[[Any], None], value: Any) -> None:
            with contextlib.suppress(RuntimeError):  # The loop is closed, so there is no receiver.
                loop.call_soon_threadsafe(function, value)

        self.start(partial(on_loop, take), partial(on_loop, ended))

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, message: bytes) -> None:
        """Queue one message. A process with too much unread input is ended instead."""
        with self._lock:
            self._waiting += len(message)
            full = self._waiting > MAX_WAITING
        if full:
            self._break("did not read its input")
        else:
            self._outbox.put(message + b"\n")

    async def written(self) -> None:
        """Return once everything sent so far has been written. Never returns if the process ends
        first."""
        loop = asyncio.get_running_loop()
        left = asyncio.Event()

        def tell() -> None:
            with contextlib.suppress(RuntimeError):  # The loop is closed, so nothing waits.
                loop.call_soon_threadsafe(left.set)

        self._outbox.put(tell)
        await left.wait()

    def taken(self) -> None:
        """Note that a received value has been handled."""
        self._room.release()

    def stop(self, patience: float = 1.5) -> None:
        """End the process and all processes that it started: its input is closed, then it is asked
        to terminate, then killed, ``patience`` seconds apart. Blocks, so don't call it on the loop.
        May be called again."""
        self._closing.set()
        self._outbox.put(None)
        insistence: tuple[Callable[[], None] | None, ...] = (None, self._terminate, self._kill)
        for insist in insistence:
            if insist is not None:
                insist()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
                break
        self._kill_for_good()
        for thread in self._threads:
            thread.join(patience)
        if not self._threads:
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                if pipe is not None:
                    self._close(pipe)

    # -- the threads --------------------------------------------------------------------------

    def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        second, count, noise = monotonic(), 0, 0
        with contextlib.suppress(OSError, ValueError):
            while line := stdout.readline(MAX_MESSAGE + 1):
                if len(line) > MAX_MESSAGE:
                    self._break(f"sent a message of more than {MAX_MESSAGE} bytes")
                    break
                count += 1
                if count >= LINES_A_SECOND:
                    self._closing.wait(max(0.0, second + 1 - monotonic()))
                    second, count = monotonic(), 0
                if self._closing.is_set():
                    break
                try:
                    value = jsonrpc.decode(line)
                except ParseError as error:
                    noise += 1
                    if line.strip() and noise <= LOGGED_NOISE:
                        self._log("%s: not a message: %.200r", line)
                    if (value := _failed(line, error)) is None:
                        continue
                while not self._room.acquire(timeout=0.5):
                    if self._closing.is_set():
                        return
                self._received(value)
        if not self._closing.is_set():
            self._settle()
        self._close(stdout)

    def _settle(self) -> None:
        """Handle the end of the process's output, which means that the process has ended or is
        about to."""
        try:
            status = self._process.wait(0.5)
        except subprocess.TimeoutExpired:
            self._kill()
            status = self._process.wait()
        self._kill_for_good()  # This ends the processes that the bundle's process left behind.
        self._outbox.put(None)
        self._ended(self._blame or f"ended with exit status {status}")

    def _read_errors(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        second, count = monotonic(), 0
        with contextlib.suppress(OSError, ValueError):
            while line := stderr.readline(4096):
                if monotonic() > second + 1:
                    second, count = monotonic(), 0
                count += 1
                if count <= LOGGED_A_SECOND:
                    self._log("%s: %s", line.decode("utf-8", "replace").rstrip())
        self._close(stderr)

    def _log(self, form: str, line: object) -> None:
        log.info(form, self.name, line, extra={"owners": self._served()})

    def _write(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(OSError, ValueError):
            while (message := self._outbox.get()) is not None:
                if not isinstance(message, bytes):
                    message()
                    continue
                stdin.write(message)
                stdin.flush()
                with self._lock:
                    self._waiting -= len(message) - 1
        self._close(stdin)

    # -- ending the process -------------------------------------------------------------------

    def _break(self, why: str) -> None:
        self._blame = self._blame or why
        self._kill()

    def _terminate(self) -> None:
        if sys.platform == "win32":
            self._job.kill()  # Windows has no way to ask a process to end.
        else:
            self._signal(signal.SIGTERM)

    def _kill(self) -> None:
        if sys.platform == "win32":
            self._job.kill()
        else:
            self._signal(signal.SIGKILL)

    def _kill_for_good(self) -> None:
        self._kill()
        if sys.platform == "win32":
            self._job.close()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _close(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            pipe.close()
