"""How a program is told to end: politely, then at once."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable
from time import monotonic
from types import FrameType

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name)
)
#: Seconds in which a second signal is the first one sent twice: to the group and to the process.
ONE_SIGNAL = 0.5


class Ending:
    """Calls ``stop`` at the first signal, in the main thread; a later one ends the process, even
    where the main thread is in a tool that never returns. Made on the main thread."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._first: float | None = None
        self._told = False
        # Handlers need the main thread; the byte that a signal writes doesn't.
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._watch, name="callboard-signals", daemon=True).start()
        for number in SIGNALS:
            signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        # Where a loop of windows has taken the wake-up file, this is the only way to hear of it.
        self._heard(number)
        if not self._told:
            self._told = True
            self._stop()

    def _watch(self) -> None:
        while True:
            for number in self._reader.recv(64):
                if number in SIGNALS:
                    self._heard(number)

    def _heard(self, number: int) -> None:
        now = monotonic()
        if self._first is None:
            self._first = now
            # Not print: a handler may interrupt one.
            os.write(2, b"callboard ends and waits for what still runs. Again: at once\n")
        elif now - self._first > ONE_SIGNAL:
            os._exit(128 + number)
