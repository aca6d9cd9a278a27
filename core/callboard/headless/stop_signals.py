"""Ends the program on a signal. The first signal ends it cleanly, and the second ends it at
once."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from types import FrameType

STOPPING = b"callboard stops when running calls have ended; press Control-C again to stop at once\n"
SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name)
)
#: Seconds within which a second signal is treated as a repeat of the first one, which may have been
#: sent both to the process group and to the process.
ONE_SIGNAL = 0.5
#: Seconds that a host has to shut down once its parent program is gone.
PATIENCE = 8.0


@contextmanager
def ended_at_once() -> Iterator[None]:
    """Let Ctrl+C end the process at once inside this block. Modules imported inside it, such as
    OpenUSD, may swallow a KeyboardInterrupt and stay half loaded. Main thread only."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Ending:
    """Calls ``stop`` at the first signal, on the main thread. A later signal ends the process, even
    when the main thread is in a tool that never returns. Create it on the main thread."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        # Handlers need the main thread, but the byte that a signal writes doesn't. Each of these
        # two ways counts signals separately, because one may receive a signal much later than the
        # other.
        self._byte, self._handler = _Heard(), _Heard()
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._watch, name="callboard-signals", daemon=True).start()
        for number in SIGNALS:
            signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        # If a window system's loop has taken the wake-up file, only this handler receives
        # signals.
        if self._handler.first(number):
            self._stop()

    def _watch(self) -> None:
        while True:
            for number in self._reader.recv(64):
                if number in SIGNALS and self._byte.first(number):
                    # Not print(), because the signal may have interrupted a print().
                    os.write(2, STOPPING)


def end_with_stdin(stop: Callable[[], None], patience: float = PATIENCE) -> None:
    """Wait until the other end of stdin is closed, then call ``stop``. End the process if it is
    still running ``patience`` seconds later. Call it on a thread of its own."""
    # This doesn't read sys.stdin, because a thread must not hold its lock when Python ends.
    while os.read(0, 65_536):
        continue
    stop()
    sleep(patience)
    os._exit(1)


class _Heard:
    """The signals received in one of the two ways."""

    def __init__(self) -> None:
        self._first: float | None = None

    def first(self, number: int) -> bool:
        """Return whether this signal is the first. A signal that arrives more than ``ONE_SIGNAL``
        seconds after the first ends the process."""
        now = monotonic()
        if self._first is None:
            self._first = now
            return True
        if now - self._first > ONE_SIGNAL:
            os._exit(128 + number)
        return False
