"""The output that a call prints, kept separate from the output of other calls.

While a server runs here, ``sys.stdout`` and ``sys.stderr`` are replaced by a router. It writes to
the buffer of the call in whose context the writer runs, or to the real stream if there is none.
"""

from __future__ import annotations

import contextvars
import io
import sys
import threading
from collections.abc import Callable
from typing import Any, TextIO

from callboard.calls.invisible import shown

#: Maximum number of characters kept from each of a call's streams.
OUTPUT_LIMIT = 65_536
#: Maximum number of characters of a stream in an answer to the model.
EXCERPT_LIMIT = 10_000


class Output:
    """The output of one call."""

    def __init__(self) -> None:
        #: True once the call has written something. Most calls never do.
        self.written = False
        #: True once output goes to the real streams.
        self.released = False
        self._parts: dict[str, list[str]] = {}
        self._room: dict[str, int] = {}

    def write(self, stream: str, text: str) -> None:
        self.written = True
        room = self._room.get(stream, OUTPUT_LIMIT)
        if room <= 0:
            return
        parts = self._parts.setdefault(stream, [])
        parts.append(str.__str__(text)[:room])
        self._room[stream] = room - len(text)
        if self._room[stream] < 0:
            parts.append(f"\n[cut after {OUTPUT_LIMIT} characters]")

    def text(self, stream: str) -> str:
        """Return the stream's text, with invisible characters shown."""
        return str(shown("".join(self._parts.get(stream, ()))))

    def excerpt(self, stream: str) -> str:
        """Return :meth:`text`, without its middle if it is long."""
        text = self.text(stream)
        left_out = len(text) - EXCERPT_LIMIT
        if left_out <= 0:
            return text
        half = EXCERPT_LIMIT // 2
        return f"{text[:half]}\n[{left_out} characters left out]\n{text[-half:]}"

    def excerpts(self) -> dict[str, str]:
        """Return ``{stdout?, stderr?}``: an excerpt of each stream that isn't empty."""
        return {stream: self.excerpt(stream) for stream in list(self._parts)}


_current: contextvars.ContextVar[Output | None] = contextvars.ContextVar(
    "callboard_output", default=None
)


class _Router(io.TextIOBase):
    def __init__(self, name: str, real: TextIO) -> None:
        self._name = name
        self.real = real

    def write(self, text: str) -> int:
        output = _current.get()
        if output is not None and not output.released:
            output.write(self._name, text)
        elif self.real is not None:
            self.real.write(text)
        return len(text)

    def flush(self) -> None:
        output = _current.get()
        if (output is None or output.released) and self.real is not None:
            self.real.flush()

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        """Do nothing, because the real stream isn't ours to close or flush."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


_lock = threading.Lock()
_users = 0
_routers: dict[str, _Router] = {}


def attach(stop_here: Callable[..., Any]) -> None:
    """Start routing. Each running server calls this once.

    Hosts replace the streams too, so the current streams are kept, and :func:`detach` restores
    them. Until then, ``breakpoint()`` calls ``stop_here``, unless another debugger was chosen.
    """
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            for name in ("stdout", "stderr"):
                _routers[name] = _Router(name, getattr(sys, name))
                setattr(sys, name, _routers[name])
            if sys.breakpointhook is sys.__breakpointhook__:
                sys.breakpointhook = stop_here


def detach(stop_here: Callable[..., Any]) -> None:
    """Restore the real streams when the last running server detaches, unless ours have since been
    replaced."""
    global _users
    with _lock:
        _users -= 1
        if _users == 0:
            for name, router in _routers.items():
                if getattr(sys, name) is router:
                    setattr(sys, name, router.real)
            _routers.clear()
            if sys.breakpointhook is stop_here:
                sys.breakpointhook = sys.__breakpointhook__


def release() -> None:
    """Send the current call's further output to the real streams."""
    output = _current.get()
    if output is not None:
        output.released = True


def capturing() -> tuple[contextvars.Context, Output]:
    """Return a fresh context, and the Output that its prints go to."""
    output = Output()
    context = contextvars.copy_context()
    context.run(_current.set, output)
    return context, output
