"""Standard input and output as the protocol's own: lines in, lines out, nothing else between."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator

from callboard.content import Json
from callboard.protocol.jsonrpc import encode
from callboard.transport.http.access import BODY_LIMIT

#: Bytes of one line; no host takes more in one request.
LINE_LIMIT = BODY_LIMIT
#: Seconds that the last answers get to be written.
_FLUSH_TIMEOUT = 2.0


def claim() -> tuple[int, int]:
    """Descriptors of what were stdin and stdout. From here on, whatever else is printed, by
    Python or by a library written in C, goes to stderr, and nobody else reads our input."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # stderr is closed
        os.dup2(nothing, 1)
    os.close(nothing)
    sys.stdout = sys.stderr
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (source, sink):
            msvcrt.setmode(descriptor, os.O_BINARY)
    return source, sink


def read_lines(source: int) -> Iterator[bytes | None]:
    """The lines without their ends; None for one over LINE_LIMIT, which is not kept. Blocks, and
    ends with the input."""
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
    """Writes messages in order on a thread of its own, so that a client which reads slowly
    delays nobody. ``on_broken`` is called on that thread when nobody reads any more."""

    def __init__(self, sink: int, on_broken: Callable[[], None]) -> None:
        self._sink = sink
        self._on_broken = on_broken
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="stdout", daemon=True)
        self._thread.start()

    def send(self, message: Json | list[Json]) -> bool:
        """Any thread."""
        self._waiting.put(encode(message) + b"\n")
        return True

    def close(self) -> None:
        """Waits, a little, until what was sent is written."""
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
