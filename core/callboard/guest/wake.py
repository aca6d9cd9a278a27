"""The signal that ends what the main thread waits for, such as ``time.sleep``.

A requested exception arrives between two instructions, so never while Python waits inside one. A
signal's handler runs even then. ``SIGURG`` is ignored by every program that doesn't ask for it, and
Windows has no such signal: there a wait runs to its end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

_SIGNAL = getattr(signal, "SIGURG", None)
#: The thread that has the handler, while a server runs.
_woken: int | None = None


def _arrive(number: int, frame: object) -> None:
    for _ in range(2):
        pass  # a loop's jump is an instruction at which a requested exception arrives


def wakeable() -> Callable[[], None]:
    """Let waits of this thread be ended, if it is Python's main thread and the application has no
    handler of its own. Return a function that undoes it; call it on the same thread."""
    global _woken
    main = threading.main_thread().ident
    if _SIGNAL is None or threading.get_ident() != main or _woken is not None:
        return lambda: None
    if signal.getsignal(_SIGNAL) is not signal.SIG_DFL:
        return lambda: None
    signal.signal(_SIGNAL, _arrive)
    _woken = main

    def undo() -> None:
        global _woken
        _woken = None
        if _SIGNAL is not None and signal.getsignal(_SIGNAL) is _arrive:
            signal.signal(_SIGNAL, signal.SIG_DFL)

    return undo


def wake(thread: int) -> None:
    """End what the thread waits for, if it can be woken. Call it from any thread."""
    if _SIGNAL is not None and thread == _woken:
        signal.pthread_kill(thread, _SIGNAL)
