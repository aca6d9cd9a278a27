"""Reserves standard input and output for the protocol, and reads and writes its lines."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator

from callboard.content import Json
from callboard.protocol.jsonrpc import encode
from callboard.transport.http.access import BODY_LIMIT

#: Maximum number of bytes in one line. No host accepts more in one request.
LINE_LIMIT = BODY_LIMIT
#: Seconds allowed for writing the last answers.
_FLUSH_TIMEOUT = 2.0


def claim() -> tuple[int, int]:
    """Take over stdin and stdout, and return new descriptors for them. From then on all other
    output, from Python or from a C library, goes to stderr, and nothing else can read the input."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # stderr is closed.
        os.dup2(nothing, 1)
    os.close(nothing)
    sys.stdout = sys.stderr
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (source, sink):
            msvcrt.setmode(descriptor, os.O_BINARY)
    return source, sink


def read_lines(source: int) -> Iterator[bytes | None]:
    """Yield each line without its line ending, or None in place of a line over LINE_LIMIT. Blocks
    until a line arrives. The iteration ends when the input does."""
    parts: list[bytes] = []
    size = 0
    while True:
        try:
            chunk = os.read(source, 65_536)
        except OSError:
            chunk = b""
        if not chunk:
            if parts:
                yield b"".join(parts)
            return
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            size += len(end)
            yield b"".join([*parts, end]) if size <= LINE_LIMIT else None
            parts, size = [], 0
        size += len(rest)
        if size > LINE_LIMIT:
            parts = []
        elif rest:
            parts.append(rest)


class LineWriter:
    """Writes messages in order on a thread of its own, so that a slow client delays nothing else.
    ``on_broken`` is called on that thread when the client no longer reads."""

    def __init__(self, sink: int, on_broken: Callable[[], None]) -> None:
        self._sink = sink
        self._on_broken = on_broken
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="stdout", daemon=True)
        self._thread.start()

    def send(self, message: Json | list[Json]) -> bool:
        """Queue a message. Call it from any thread."""
        self._waiting.put(encode(message) + b"\n")
        return True

    def close(self) -> None:
        """Wait briefly for the queued messages to be written."""
        self._waiting.put(None)
        self._thread.join(_FLUSH_TIMEOUT)

    def _write(self) -> None:
        try:
            while (line := self._waiting.get()) is not None:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(self._sink, rest) :]
        except OSError:
            self._on_broken()
