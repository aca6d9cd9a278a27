"""Server-sent events, as Streamable HTTP writes them: bytes in, data out, and back."""

from __future__ import annotations

from callboard.content import Json
from callboard.protocol.jsonrpc import encode

#: Bytes of one event.
EVENT_LIMIT = 256 * 1024 * 1024


def event(message: Json) -> bytes:
    """One message as one event."""
    return b"event: message\ndata: " + encode(message) + b"\n\n"


class EventReader:
    """Takes a stream in pieces."""

    def __init__(self) -> None:
        #: The line that isn't complete yet.
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of each event that ends in ``chunk``. Comments and other fields are passed
        over. Raises ValueError for an event that is too large."""
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
                self._data = []
                self._size = len(following)
        if self._size > EVENT_LIMIT:
            raise ValueError(f"an event is over {EVENT_LIMIT} bytes")
        return messages
