"""The signals that end the main thread's waits and pauses. Windows has neither.

A requested exception arrives between two instructions, so it can't arrive while Python waits inside
one, such as ``time.sleep``. The handler of ``SIGURG`` runs even then. By default, programs ignore
that signal. On Windows, a wait runs to its end.

While callboard's threads stand still, none of them can request anything. An alarm lets them run for
a moment at regular intervals. If the application has an alarm of its own, another process can send
``SIGURG``, whose handler lets the threads run for longer.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress

from callboard.guest.thread_pause import ALARM, breathe, take_a_moment

_SIGNAL = getattr(signal, "SIGURG", None)
#: The thread that has the handlers, while a server runs.
_woken: int | None = None


#: Seconds for which threads that stand still may run. This is enough to end a call.
BREATH = 4.0


def _arrive(number: int, frame: object) -> None:
    breathe(BREATH)
    for _ in range(2):
        pass  # The jump of this loop is an instruction at which a requested exception arrives.


def wakeable() -> Callable[[], None]:
    """Allow this thread's waits and pauses to be ended, if this is Python's main thread and the
    application has no handlers of its own. Return a function that undoes this; call that function
    on the same thread."""
    global _woken
    main = threading.main_thread().ident
    if _SIGNAL is None or ALARM is None:
        return lambda: None
    if threading.get_ident() != main or _woken is not None:
        return lambda: None
    if signal.getsignal(_SIGNAL) is not signal.SIG_DFL:
        return lambda: None
    signal.signal(_SIGNAL, _arrive)
    if signal.getsignal(ALARM) is signal.SIG_DFL:
        signal.signal(ALARM, take_a_moment)
        signal.siginterrupt(ALARM, False)  # The application's own calls to the system go on.
    _woken = main

    def undo() -> None:
        global _woken
        _woken = None
        if _SIGNAL is not None and signal.getsignal(_SIGNAL) is _arrive:
            signal.signal(_SIGNAL, signal.SIG_DFL)
        if ALARM is not None and signal.getsignal(ALARM) is take_a_moment:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(ALARM, signal.SIG_DFL)

    return undo


def rouse(process: int) -> None:
    """Make callboard's threads in another process run for a moment, if they are stalled."""
    if _SIGNAL is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, _SIGNAL)


def wake(thread: int) -> None:
    """End the thread's wait, if the thread can be woken. Call it from any thread."""
    if _SIGNAL is not None and thread == _woken:
        signal.pthread_kill(thread, _SIGNAL)
