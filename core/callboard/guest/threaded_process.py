"""A program that a coroutine starts on a loop that can't wait for pipes, such as the selector loop
on Windows.

Threads read, write and wait for the program to end. The protocol is notified on the loop, as by
asyncio's own transports. So ``asyncio.create_subprocess_exec`` works in every coroutine tool.
"""

from __future__ import annotations

import asyncio
import queue
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

_CHUNK = 65_536
#: Numbers of unwritten bytes at which the writer is told to pause, and to continue.
_HIGH, _LOW = 65_536, 16_384


class ThreadedProcess(asyncio.SubprocessTransport):
    """One program. Make and use it on the loop. ``options`` are those of ``subprocess.Popen``."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        protocol: asyncio.SubprocessProtocol,
        command: Any,
        **options: Any,
    ) -> None:
        super().__init__({"command": command})
        self._loop = loop
        self._protocol = protocol
        self._process = subprocess.Popen(command, **{**options, "bufsize": 0})
        self._ended: asyncio.Future[int] = loop.create_future()
        self._closed = False
        self._pipes: dict[int, _ReadPipe | _WritePipe] = {}
        if self._process.stdin is not None:
            self._pipes[0] = _WritePipe(self, 0, self._process.stdin)
        for number, pipe in ((1, self._process.stdout), (2, self._process.stderr)):
            if pipe is not None:
                self._pipes[number] = _ReadPipe(self, number, pipe)
        self._open = set(self._pipes)
        protocol.connection_made(self)
        for each in self._pipes.values():
            each.start()
        _in_thread("callboard-program", self._await_end)

    # -- called by asyncio ------------------------------------------------------------------------

    def get_pid(self) -> int:
        return self._process.pid

    def get_returncode(self) -> int | None:
        return self._ended.result() if self._ended.done() else None

    def get_pipe_transport(self, fd: int) -> Any:
        return self._pipes.get(fd)

    def send_signal(self, signal: int) -> None:
        self._process.send_signal(signal)

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()

    def is_closing(self) -> bool:
        return self._closed

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for pipe in self._pipes.values():
            pipe.close()
        if self._process.poll() is None:
            with suppress(OSError):
                self._process.kill()

    async def _wait(self) -> int:
        """Wait until the program ends, for ``asyncio.subprocess.Process.wait``."""
        return await asyncio.shield(self._ended)

    # -- called by the threads --------------------------------------------------------------------

    def tell(self, function: Callable[..., None], *values: Any) -> bool:
        """Call the function on the loop. Return False when the loop is closed. Call it from any
        thread."""
        try:
            self._loop.call_soon_threadsafe(function, *values)
        except RuntimeError:
            return False
        return True

    def _await_end(self) -> None:
        self.tell(self._note_end, self._process.wait())

    def _note_end(self, code: int) -> None:
        if not self._ended.done():
            self._ended.set_result(code)
        self._protocol.process_exited()
        self._finish()

    def received(self, number: int, data: bytes) -> None:
        self._protocol.pipe_data_received(number, data)

    def pipe_lost(self, number: int, error: OSError | None) -> None:
        if number in self._open:
            self._open.discard(number)
            self._protocol.pipe_connection_lost(number, error)
            self._finish()

    def may_write(self, yes: bool) -> None:
        if yes:
            self._protocol.resume_writing()
        else:
            self._protocol.pause_writing()

    def _finish(self) -> None:
        if self._ended.done() and not self._open:
            self._closed = True
            self._protocol.connection_lost(None)


class _ReadPipe(asyncio.ReadTransport):
    """The program's output. The next piece is read once the loop has taken the previous piece."""

    def __init__(self, owner: ThreadedProcess, number: int, pipe: IO[bytes]) -> None:
        super().__init__()
        self._owner, self._number, self._pipe = owner, number, pipe
        self._flows = threading.Event()
        self._flows.set()
        self._closed = False

    def start(self) -> None:
        _in_thread("callboard-program-output", self._read)

    def pause_reading(self) -> None:
        self._flows.clear()

    def resume_reading(self) -> None:
        self._flows.set()

    def is_reading(self) -> bool:
        return self._flows.is_set()

    def is_closing(self) -> bool:
        return self._closed

    def close(self) -> None:
        # The thread closes the pipe, because no other thread may do so while the pipe is being
        # read.
        self._closed = True
        self._flows.set()

    def _read(self) -> None:
        taken = threading.Event()

        def take(data: bytes) -> None:
            if not self._closed:
                self._owner.received(self._number, data)
            taken.set()

        with suppress(OSError, ValueError):
            while not self._closed and (data := self._pipe.read(_CHUNK)):
                taken.clear()
                if not self._owner.tell(take, data):
                    break
                taken.wait()
                self._flows.wait()
        with suppress(OSError):
            self._pipe.close()
        self._owner.tell(self._owner.pipe_lost, self._number, None)


class _WritePipe(asyncio.WriteTransport):
    """The program's input."""

    def __init__(self, owner: ThreadedProcess, number: int, pipe: IO[bytes]) -> None:
        super().__init__()
        self._owner, self._number, self._pipe = owner, number, pipe
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting = 0
        self._paused = False
        self._closed = False

    def start(self) -> None:
        _in_thread("callboard-program-input", self._write)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._closed or not data:
            return
        self._waiting += len(data)
        self._queue.put(bytes(data))
        if self._waiting > _HIGH and not self._paused:
            self._paused = True
            self._owner.may_write(False)

    def get_write_buffer_size(self) -> int:
        return self._waiting

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.close()

    def is_closing(self) -> bool:
        return self._closed

    def abort(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the pipe once everything written so far has been sent."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)

    def _written(self, count: int) -> None:
        self._waiting -= count
        if self._paused and self._waiting <= _LOW:
            self._paused = False
            self._owner.may_write(True)

    def _write(self) -> None:
        lost: OSError | None = None
        try:
            while (data := self._queue.get()) is not None:
                left = memoryview(data)
                while left:
                    left = left[self._pipe.write(left) :]
                self._owner.tell(self._written, len(data))
        except OSError as error:
            lost = error
        with suppress(OSError):
            self._pipe.close()
        self._owner.tell(self._owner.pipe_lost, self._number, lost)


def _in_thread(name: str, work: Callable[[], None]) -> None:
    threading.Thread(target=work, name=name, daemon=True).start()
