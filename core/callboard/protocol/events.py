"""Reads and writes server-sent events, as Streamable HTTP uses them."""

from __future__ import annotations

from callboard.content import Json
from callboard.protocol.jsonrpc import encode

#: Maximum number of bytes in one event.
EVENT_LIMIT = 256 * 1024 * 1024


def event(message: Json) -> bytes:
    """Return one message as one event."""
    return b"event: message\ndata: " + encode(message) + b"\n\n"


class EventReader:
    """Reads events from a stream that arrives in pieces."""

    def __init__(self, most: int | None = None) -> None:
        """``most`` is the maximum number of bytes in one event. None means ``EVENT_LIMIT``."""
        self._most = EVENT_LIMIT if most is None else most
        #: The parts of the line that is still incomplete.
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._size = 0
        self._reported = False

    def beginning(self, least: int) -> bytes | None:
        """Return the beginning of the data of an event that hasn't arrived completely, once
        ``least`` bytes have arrived. The beginning is returned at most once for each event. In all
        other cases, return None."""
        if self._size < least or self._reported or self._data:
            return None
        self._reported = True
        line = b"".join(self._line)
        return line[5:].removeprefix(b" ") if line.startswith(b"data:") else None

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the data of each event that ends in ``chunk``. Comments and other fields are
        ignored. Raises ValueError for an event that is too large."""
        messages: list[bytes] = []
        first, *others = chunk.split(b"\n")
        self._line.append(first)
        self._size += len(chunk)
        for following in others:
            line = b"".join(self._line).removesuffix(b"\r")
            self._line = [following]
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line:
                if self._data:
                    messages.append(b"\n".join(self._data))
                self._data, self._reported = [], False
                self._size = len(following)
        if self._size > self._most:
            raise ValueError(f"an event is over {self._most} bytes")
        return messages
